// Secrets in a source's options: `${env:NAME}` stands for a variable, and `token_file` for the text of a file as `token`.

import { readFile } from "node:fs/promises";
import { ChatError } from "../errors.ts";

const REFERENCE = /^\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}$/;
const FILE_SUFFIX = "_file";

/** The options with every reference replaced. `where` is for the error: `sources.telegram.options`. */
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
      `${field}: ${path} cannot be read`,
      { field, hint: "Check the path and its rights" },
      error,
    );
  });
  return text.trim();
}
