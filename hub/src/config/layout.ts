// How a JSON text is laid out, and new values in the same hand. Where they go is left to edit.ts.

import { isObject } from "./plain.ts";
import type { Json } from "./plain.ts";

interface Layout {
  /** One step of indentation. */
  readonly unit: string;
  readonly eol: string;
}

/** Longer lists get a line for each item. */
const LINE_MAX = 100;

/** The indentation and line ends of a text; two spaces and \n where it has none. */
export function layoutOf(text: string): Layout {
  return { unit: /^([ \t]+)"/m.exec(text)?.[1] ?? "  ", eol: text.includes("\r\n") ? "\r\n" : "\n" };
}

/** A value as text; `indent` is that of the line it begins on. Short lists of plain values stay on one line. */
export function toText(value: Json, layout: Layout, indent = ""): string {
  const inner = indent + layout.unit;
  if (Array.isArray(value)) {
    const items = value.map((item) => toText(item, layout, inner));
    const line = `[${items.join(", ")}]`;
    if (items.length === 0 || (!line.includes("\n") && line.length <= LINE_MAX)) return line;
    return block(items, { open: "[", close: "]", inner, indent, eol: layout.eol });
  }
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([key, member]) => `${JSON.stringify(key)}: ${toText(member, layout, inner)}`,
  );
  return members.length === 0 ? "{}" : block(members, { open: "{", close: "}", inner, indent, eol: layout.eol });
}

interface Block {
  readonly open: string;
  readonly close: string;
  readonly inner: string;
  readonly indent: string;
  readonly eol: string;
}

function block(parts: readonly string[], { open, close, inner, indent, eol }: Block): string {
  return `${open}${eol}${parts.map((part) => inner + part).join(`,${eol}`)}${eol}${indent}${close}`;
}
