// The interface of client file formats: parse a text, and set or remove one server without changing the rest. Libraries are
// loaded on demand.

import type { JsonObject } from "../../config/parse/plain-object.ts";
import { HubError } from "../../errors.ts";
import type { Client, Format } from "../client.ts";

/** The location of a server in a file. */
export interface EntryLocation {
  readonly root: readonly string[];
  readonly list: boolean;
  readonly name: string;
}

/** Methods throw HubError for invalid text: FileSyntaxError if the position is known. */
export interface Editor {
  /** Undefined for a text without data. */
  parse(text: string, file: string): unknown;
  set(text: string, location: EntryLocation, entry: JsonObject): string;
  remove(text: string, location: EntryLocation): string;
}

/** A syntax error with its position. The message has no content of the file, which may contain credentials. */
export class FileSyntaxError extends HubError {
  readonly file: string;
  readonly line: number;
  readonly column: number;

  constructor(file: string, format: string, { line, column }: { line: number; column: number }) {
    super("InvalidConfig", `${file}:${line}:${column}: not valid ${format}`, {
      hint: "Fix the syntax error at this position",
    });
    this.file = file;
    this.line = line;
    this.column = column;
  }
}

export async function editorFor(format: Format): Promise<Editor> {
  switch (format) {
    case "jsonc":
      return (await import("./jsonc.ts")).jsonc;
    case "toml":
      return (await import("./toml.ts")).toml;
    case "yaml":
      return (await import("./yaml.ts")).yaml;
  }
}

export function entryLocation({ root, list }: Client, name: string): EntryLocation {
  return { root, list: list === true, name };
}
