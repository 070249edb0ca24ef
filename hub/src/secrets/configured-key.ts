// Reads the operator's secret key from a variable, or from a file that a variable names. Child processes do not inherit a
// file, and containers and service managers pass secrets as files.

import { readFileSync } from "node:fs";
import { HubError } from "../errors.ts";

const KEY_VARIABLE = "PLUGBOARD_SECRET_KEY";
const KEY_FILE_VARIABLE = "PLUGBOARD_SECRET_KEY_FILE";

/** Undefined if neither variable is set; the store then creates a key file beside the secrets. */
export function configuredSecretKey(variables: Readonly<Record<string, string | undefined>>): string | undefined {
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
    hint: "Write the secret key into it",
  });
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new HubError("InvalidConfig", `Cannot read the secret key from ${path}`, {
      field: KEY_FILE_VARIABLE,
      detail: error instanceof Error ? error.message : String(error),
      cause: error,
    });
  }
}
