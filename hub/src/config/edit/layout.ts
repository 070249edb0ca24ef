// Detects the layout of a JSON text and formats new values in the same way.

import { isObject } from "../../lib/json/json.ts";
import type { Json } from "../parse/plain-object.ts";

interface Layout {
  /** One step of indentation. */
  readonly unit: string;
  readonly eol: string;
}

/** A longer list has one item per line. */
const LINE_MAX = 100;

/** Indentation and line ends of a text. Defaults: two spaces and \n. */
export function layoutOf(text: string): Layout {
  return { unit: /^([ \t]+)"/m.exec(text)?.[1] ?? "  ", eol: text.includes("\r\n") ? "\r\n" : "\n" };
}

/** Formats a value. `indent` is the indentation of its first line. Short lists stay on one line. */
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
