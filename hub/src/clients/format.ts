// The formats of clients' files behind one port: the data in a text, and one server set or removed in it with everything
// else left as it was written. A library is loaded when a file needs it.

import type { JsonObject } from "../config/plain.ts";
import { HubError } from "../errors.ts";
import type { Client, Format } from "./client.ts";

/** Where a server stands in a file. */
export interface Spot {
  readonly root: readonly string[];
  readonly list: boolean;
  readonly name: string;
}

/** Every method throws a HubError where the text is not of the format; a BrokenFile where the place is known. */
export interface Editor {
  /** Undefined for a text that says nothing. */
  parse(text: string, file: string): unknown;
  set(text: string, spot: Spot, entry: JsonObject): string;
  remove(text: string, spot: Spot): string;
}

/** A text that cannot be read, and where. Nothing of it is in the message: it may hold credentials. */
export class BrokenFile extends HubError {
  readonly file: string;
  readonly line: number;
  readonly column: number;

  constructor(file: string, format: string, { line, column }: { line: number; column: number }) {
    super("InvalidConfig", `${file}:${line}:${column}: not valid ${format}`, { hint: "Correct it there" });
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

export function spotOf({ root, list }: Client, name: string): Spot {
  return { root, list: list === true, name };
}
