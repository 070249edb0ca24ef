// Reads and writes chat.json. Errors name the field and the fix.

import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { removeStaleTemps, writeFileAtomic } from "@plugboard/shared/files/atomic";
import { z } from "zod";
import { ChatError } from "../errors.ts";
import { createHome, type ChatHome } from "./home.ts";
import { ChatConfigFile } from "./schema.ts";

export type ConfigInput = z.input<typeof ChatConfigFile>;
export type SourceInput = NonNullable<ConfigInput["sources"]>[string];

/** A missing file counts as empty unless `mustExist`. */
export async function readConfig(home: ChatHome, { mustExist = false } = {}): Promise<ChatConfigFile> {
  return ChatConfigFile.parse(await readInput(home, mustExist));
}

/** Adds or replaces a source, and leaves the rest of the file unchanged. */
export async function writeSource(home: ChatHome, id: string, entry: SourceInput): Promise<void> {
  await changeConfig(home, (written) => ({ ...written, sources: { ...written.sources, [id]: entry } }));
}

/** `change` gets the file as it is written, without defaults. The result is validated before it is written. */
export async function changeConfig(home: ChatHome, change: (written: ConfigInput) => ConfigInput): Promise<void> {
  const changed = change(await readInput(home));
  validate(home, changed);
  await writeInput(home, changed);
}

async function readInput(home: ChatHome, mustExist = false): Promise<ConfigInput> {
  const text = await readFile(home.config, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" && !mustExist) return "{}";
    throw configError(home.config, `cannot be read: ${error.message}`, "Check the file's permissions");
  });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw configError(home.config, `is not JSON: ${error instanceof Error ? error.message : ""}`, "Correct the JSON");
  }
  return validate(home, json);
}

function validate(home: ChatHome, json: unknown): ConfigInput {
  const parsed = ChatConfigFile.safeParse(json);
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- validated above
  if (parsed.success) return json as ConfigInput;
  const { message, field } = firstIssue(parsed.error);
  throw configError(home.config, `${field}: ${message}`, `Correct ${field} in ${home.config}`, field);
}

async function writeInput(home: ChatHome, config: ConfigInput): Promise<void> {
  await createHome(home);
  await removeStaleTemps(dirname(home.config));
  await writeFileAtomic(home.config, `${JSON.stringify(config, undefined, 2)}\n`, { mode: 0o600 });
}

export function firstIssue(error: z.ZodError): { readonly field: string; readonly message: string } {
  const issue = error.issues[0];
  if (issue === undefined) return { field: "(root)", message: "invalid" };
  const path = [...issue.path, ...(issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [])];
  return { field: path.length === 0 ? "(root)" : path.map(String).join("."), message: messageOf(issue) };
}

function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "unrecognized_keys") return "unknown field";
  // The issue of an invalid key is nested.
  return (issue.code === "invalid_key" ? issue.issues[0]?.message : undefined) ?? issue.message;
}

function configError(path: string, what: string, hint: string, field?: string): ChatError {
  return new ChatError("INVALID_PARAMETER", `${path} ${what}`, field === undefined ? { hint } : { hint, field });
}
