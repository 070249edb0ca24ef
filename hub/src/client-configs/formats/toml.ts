// TOML. A server is a table `[mcp_servers.name]` with its sub-tables. It is added and removed as lines of text, because a
// library would reformat the rest.

import { parse, stringify, TomlError } from "smol-toml";
import { FILE_MAX_BYTES } from "../../config/schema/limits.ts";
import { isObject } from "../../lib/json/json.ts";
import { tooLarge } from "../../config/parse/json.ts";
import { HubError } from "../../errors.ts";
import { FileSyntaxError, type Editor, type EntryLocation } from "./format.ts";

export const toml: Editor = {
  parse(text, file) {
    if (Buffer.byteLength(text) > FILE_MAX_BYTES) throw tooLarge(file);
    try {
      return text.trim() === "" ? undefined : toPlainObject(parse(text, { integersAsBigInt: "asNeeded" }));
    } catch (error) {
      if (error instanceof TomlError)
        throw new FileSyntaxError(file, "TOML", { line: error.line, column: error.column });
      throw error;
    }
  },

  set(text, location, entry) {
    const eol = text.includes("\r\n") ? "\r\n" : "\n";
    const inline = Object.entries(entry).map(([key, value]) => `${key} = ${toValue(value)}`);
    const lines = [headerOf(location), ...inline].join(eol);
    const block = findBlock(text, location);
    if (block !== undefined) return text.slice(0, block.start) + lines + text.slice(block.end);
    const gap = text === "" ? "" : text.endsWith("\n") ? eol : eol + eol;
    return `${text}${gap}${lines}${eol}`;
  },

  remove(text, location) {
    const block = findBlock(text, location);
    if (block === undefined) {
      throw new HubError("InvalidConfig", `${location.name} is not a separate table`, {
        hint: `Remove ${[...location.root, location.name].join(".")} by hand`,
      });
    }
    const before = text.slice(0, block.start).replace(/(?<=\n)\r?\n$/, "");
    return before + text.slice(block.end).replace(/^\r?\n/, "");
  },
};

/** The library's objects have no prototype, so isDeepStrictEqual fails on them. */
function toPlainObject(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toPlainObject);
  if (!isObject(value) || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toPlainObject(member)]));
}

function headerOf({ root, name }: EntryLocation): string {
  return `[${[...root, name].map(toKey).join(".")}]`;
}

function toKey(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}

/** From the header to the last line, including sub-tables. Comments before the next table belong to that one. */
function findBlock(text: string, { root, name }: EntryLocation): { start: number; end: number } | undefined {
  const path = [...root, name].map(toPattern).join("\\.");
  const header = new RegExp(`^[ \\t]*\\[${path}\\]`);
  const subHeader = new RegExp(`^[ \\t]*\\[${path}\\.`);
  let start: number | undefined;
  let end = 0;
  let offset = 0;
  for (const line of text.split(/(?<=\n)/)) {
    const isHeader = /^[ \t]*\[/.test(line);
    if (start === undefined) {
      if (header.test(line) && isComplete(text.slice(0, offset))) start = offset;
    } else if (isHeader && !subHeader.test(line) && isComplete(text.slice(0, offset))) break;
    const isContent = line.trim() !== "" && !line.trimStart().startsWith("#");
    if (start !== undefined && isContent) end = offset + line.replace(/\r?\n$/, "").length;
    offset += line.length;
  }
  return start === undefined ? undefined : { start, end };
}

/** False inside a multi-line list or string, where a line may only look like a table header. */
function isComplete(before: string): boolean {
  try {
    parse(before);
    return true;
  } catch {
    return false;
  }
}

/** Matches a key, bare or quoted. */
function toPattern(key: string): string {
  const word = key.replaceAll(/[^\w-]/g, "\\$&");
  return `\\s*(?:${word}|"${word}"|'${word}')\\s*`;
}

/** Formats a value on one line. */
function toValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toValue).join(", ")}]`;
  if (isObject(value)) {
    const members = Object.entries(value).map(([key, member]) => `${toKey(key)} = ${toValue(member)}`);
    return `{ ${members.join(", ")} }`;
  }
  // The library escapes strings.
  return stringify({ it: value }).slice("it = ".length).trim();
}
