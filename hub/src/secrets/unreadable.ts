// Why a secret cannot be read, and what helps. No value and no key is ever part of it.

import { HubError } from "../errors.ts";

/** Undefined: its name is damaged, too. */
export function damaged(name: string | undefined, path: string): HubError {
  const which = name === undefined ? "A secret" : `Secret ${JSON.stringify(name)}`;
  return new HubError("DatabaseError", `${which} cannot be decrypted: a file is damaged`, {
    detail: path,
    hint: "Restore the file from a backup, or delete it and set the secret again",
  });
}

export function sealedByAnother(name: string): HubError {
  return new HubError("InvalidConfig", `Secret ${JSON.stringify(name)} was encrypted with another key`, {
    hint: "Give the hub the key it was set with (PLUGBOARD_SECRET_KEY, or master.key), or set the secret again",
  });
}

export function keyIsMissing(folder: string): HubError {
  return new HubError("InvalidConfig", `The key of the secrets in ${folder} is missing`, {
    hint: "Give PLUGBOARD_SECRET_KEY as before, or restore master.key from a backup",
  });
}
