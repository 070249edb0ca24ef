// Reads and writes chat.json. What is wrong in it is told with the place in the file and what to do.

import { randomUUID } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { z } from "zod";
import { ChatError } from "../errors.ts";
import { makeHome, type ChatHome } from "./home.ts";
import { ChatConfigFile } from "./schema.ts";

type ConfigInput = z.input<typeof ChatConfigFile>;
export type SourceInput = NonNullable<ConfigInput["sources"]>[string];

/** An absent file is an empty one, unless it must be there. */
export async function readConfig(home: ChatHome, { mustExist = false } = {}): Promise<ChatConfigFile> {
  return ChatConfigFile.parse(await readWritten(home, mustExist));
}

/** Puts a source into the file, in place of one with its id, and leaves the rest as the user wrote it. */
export async function writeSource(home: ChatHome, id: string, entry: SourceInput): Promise<void> {
  const written = await readWritten(home);
  const sources = { ...written.sources, [id]: entry };
  check(home, { ...written, sources });
  await writeWritten(home, { ...written, sources });
}

async function readWritten(home: ChatHome, mustExist = false): Promise<ConfigInput> {
  const text = await readFile(home.config, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" && !mustExist) return "{}";
    throw broken(home.config, `cannot be read: ${error.message}`, "Check the file's rights");
  });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw broken(
      home.config,
      `is not JSON: ${error instanceof Error ? error.message : ""}`,
      "Correct it at that place",
    );
  }
  return check(home, json);
}

function check(home: ChatHome, json: unknown): ConfigInput {
  const parsed = ChatConfigFile.safeParse(json);
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- it has just been found to be one
  if (parsed.success) return json as ConfigInput;
  const { message, field } = firstIssue(parsed.error);
  throw broken(home.config, `${field}: ${message}`, `Correct ${field} in ${home.config}`, field);
}

/** Replaced as a whole, so that a reader sees the old one or the new one. */
async function writeWritten(home: ChatHome, config: ConfigInput): Promise<void> {
  await makeHome(home);
  const draft = `${home.config}.${randomUUID()}`;
  try {
    await writeFile(draft, `${JSON.stringify(config, undefined, 2)}\n`, { mode: 0o600, flag: "wx" });
    await rename(draft, home.config);
  } finally {
    await rm(draft, { force: true });
  }
}

export function firstIssue(error: z.ZodError): { readonly field: string; readonly message: string } {
  const issue = error.issues[0];
  if (issue === undefined) return { field: "(root)", message: "is wrong" };
  const path = [...issue.path, ...(issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [])];
  return { field: path.length === 0 ? "(root)" : path.map(String).join("."), message: wordsOf(issue) };
}

function wordsOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "unrecognized_keys") return "is not known here";
  // What is wrong with the key stands below it.
  return (issue.code === "invalid_key" ? issue.issues[0]?.message : undefined) ?? issue.message;
}

function broken(path: string, what: string, hint: string, field?: string): ChatError {
  return new ChatError("INVALID_PARAMETER", `${path} ${what}`, field === undefined ? { hint } : { hint, field });
}
