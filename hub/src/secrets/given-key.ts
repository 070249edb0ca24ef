// The key of the secrets that the operator gives, in a variable or in a file that it names: a file is not seen by every
// process that is started from here, and is how containers and service managers hand over secrets.

import { readFileSync } from "node:fs";
import { HubError } from "../errors.ts";

const KEY_VARIABLE = "PLUGBOARD_SECRET_KEY";
const KEY_FILE_VARIABLE = "PLUGBOARD_SECRET_KEY_FILE";

/** Undefined where none is given: then one is made and kept beside the secrets. */
export function givenSecretKey(variables: Readonly<Record<string, string | undefined>>): string | undefined {
  const key = variables[KEY_VARIABLE];
  const path = variables[KEY_FILE_VARIABLE];
  if (!path) return key;
  if (key) {
    throw new HubError("InvalidConfig", `${KEY_VARIABLE} and ${KEY_FILE_VARIABLE} are both set: keep one`, {
      field: KEY_FILE_VARIABLE,
    });
  }
  const text = read(path).trim();
  if (text !== "") return text;
  throw new HubError("InvalidConfig", `${path} is empty`, {
    field: KEY_FILE_VARIABLE,
    hint: "Write the key of the secrets into it",
  });
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new HubError("InvalidConfig", `The key of the secrets cannot be read from ${path}`, {
      field: KEY_FILE_VARIABLE,
      detail: error instanceof Error ? error.message : String(error),
      cause: error,
    });
  }
}
