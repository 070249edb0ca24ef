// Errors of unreadable secrets. They contain neither values nor keys.

import { HubError } from "../errors.ts";

/** `name` is undefined if it is damaged too. */
export function damagedSecret(name: string | undefined, path: string): HubError {
  const which = name === undefined ? "A secret" : `Secret ${JSON.stringify(name)}`;
  return new HubError("DatabaseError", `${which} cannot be decrypted: a file is damaged`, {
    detail: path,
    hint: "Restore the file from a backup, or delete it and set the secret again",
  });
}

export function wrongKey(name: string): HubError {
  return new HubError("InvalidConfig", `Secret ${JSON.stringify(name)} was encrypted with another key`, {
    hint: "Restore the key that it was set with (PLUGBOARD_SECRET_KEY or master.key), or set the secret again",
  });
}

export function missingKey(folder: string): HubError {
  return new HubError("InvalidConfig", `The key for the secrets in ${folder} is missing`, {
    hint: "Set PLUGBOARD_SECRET_KEY to the previous key, or restore master.key from a backup",
  });
}
