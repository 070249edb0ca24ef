// Resolves secret references in source options: `${env:NAME}` is a variable, `token_file` a file that contains `token`.

import { readFile } from "node:fs/promises";
import { ChatError } from "../errors.ts";

const REFERENCE = /^\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}$/;
const FILE_SUFFIX = "_file";

/** Replaces every reference. `where` is used in errors, such as `sources.telegram.options`. */
export async function resolveSecrets(
  options: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
  where: string,
): Promise<Record<string, unknown>> {
  const resolved: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    const field = `${where}.${name}`;
    if (typeof value !== "string") resolved[name] = value;
    else if (name.endsWith(FILE_SUFFIX)) {
      resolved[name.slice(0, -FILE_SUFFIX.length)] = await readSecret(value, field);
    } else resolved[name] = fromEnvironment(value, env, field);
  }
  return resolved;
}

/** The options with a placeholder for each secret in a file. */
export function withPlaceholders(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) =>
      name.endsWith(FILE_SUFFIX) ? [name.slice(0, -FILE_SUFFIX.length), "secret"] : [name, value],
    ),
  );
}

function fromEnvironment(value: string, env: Readonly<Record<string, string | undefined>>, field: string): string {
  const name = REFERENCE.exec(value)?.[1];
  if (name === undefined) return value;
  const found = env[name];
  if (found !== undefined && found !== "") return found;
  throw new ChatError("INVALID_PARAMETER", `${field}: the variable ${name} is not set`, {
    field,
    hint: `Set ${name} in the environment of the chat server`,
  });
}

async function readSecret(path: string, field: string): Promise<string> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new ChatError(
      "INVALID_PARAMETER",
      `${field}: cannot read ${path}`,
      { field, hint: "Check the path and the permissions" },
      error,
    );
  });
  return text.trim();
}
