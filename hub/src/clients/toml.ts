// TOML as a client's format. A server is a block of lines of its own, `[mcp_servers.name]` with all below it, so it is
// added and taken away as text and nothing else is touched; what a library makes of the rest does not matter.

import { parse, stringify, TomlError } from "smol-toml";
import { FILE_MAX_BYTES } from "../config/limits.ts";
import { isObject } from "../config/plain.ts";
import { tooLarge } from "../config/json.ts";
import { HubError } from "../errors.ts";
import { BrokenFile, type Editor, type Spot } from "./format.ts";

export const toml: Editor = {
  parse(text, file) {
    if (Buffer.byteLength(text) > FILE_MAX_BYTES) throw tooLarge(file);
    try {
      return text.trim() === "" ? undefined : ordinary(parse(text, { integersAsBigInt: "asNeeded" }));
    } catch (error) {
      if (error instanceof TomlError) throw new BrokenFile(file, "TOML", { line: error.line, column: error.column });
      throw error;
    }
  },

  set(text, spot, entry) {
    const eol = text.includes("\r\n") ? "\r\n" : "\n";
    const inline = Object.entries(entry).map(([key, value]) => `${key} = ${toValue(value)}`);
    const lines = [headerOf(spot), ...inline].join(eol);
    const block = findBlock(text, spot);
    if (block !== undefined) return text.slice(0, block.start) + lines + text.slice(block.end);
    const gap = text === "" ? "" : text.endsWith("\n") ? eol : eol + eol;
    return `${text}${gap}${lines}${eol}`;
  },

  remove(text, spot) {
    const block = findBlock(text, spot);
    if (block === undefined) {
      throw new HubError("InvalidConfig", `${spot.name} does not stand in a table of its own`, {
        hint: `Remove ${[...spot.root, spot.name].join(".")} by hand`,
      });
    }
    const before = text.slice(0, block.start).replace(/(?<=\n)\r?\n$/, "");
    return before + text.slice(block.end).replace(/^\r?\n/, "");
  },
};

/** The library's objects have no prototype, and are never equal to others. */
function ordinary(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordinary);
  if (!isObject(value) || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, ordinary(member)]));
}

function headerOf({ root, name }: Spot): string {
  return `[${[...root, name].map(toKey).join(".")}]`;
}

function toKey(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}

/** From its header to its last line, its sub-tables included; comments before the next table are that one's. */
function findBlock(text: string, { root, name }: Spot): { start: number; end: number } | undefined {
  const path = [...root, name].map(toPattern).join("\\.");
  const own = new RegExp(`^[ \\t]*\\[${path}\\]`);
  const below = new RegExp(`^[ \\t]*\\[${path}\\.`);
  let start: number | undefined;
  let end = 0;
  let offset = 0;
  for (const line of text.split(/(?<=\n)/)) {
    const isHeader = /^[ \t]*\[/.test(line);
    if (start === undefined) {
      if (own.test(line) && isWhole(text.slice(0, offset))) start = offset;
    } else if (isHeader && !below.test(line) && isWhole(text.slice(0, offset))) break;
    const isContent = line.trim() !== "" && !line.trimStart().startsWith("#");
    if (start !== undefined && isContent) end = offset + line.replace(/\r?\n$/, "").length;
    offset += line.length;
  }
  return start === undefined ? undefined : { start, end };
}

/** Whether no list and no text of several lines is still open: what looks like a table may be part of one. */
function isWhole(before: string): boolean {
  try {
    parse(before);
    return true;
  } catch {
    return false;
  }
}

/** A key in any of its spellings. */
function toPattern(key: string): string {
  const word = key.replaceAll(/[^\w-]/g, "\\$&");
  return `\\s*(?:${word}|"${word}"|'${word}')\\s*`;
}

/** On one line, as people write it. */
function toValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toValue).join(", ")}]`;
  if (isObject(value)) {
    const members = Object.entries(value).map(([key, member]) => `${toKey(key)} = ${toValue(member)}`);
    return `{ ${members.join(", ")} }`;
  }
  // The library knows how a text is escaped.
  return stringify({ it: value }).slice("it = ".length).trim();
}
