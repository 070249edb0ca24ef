// Plain text of a message: a string, or a list of strings and typed parts.

import { fieldsOf, textOf } from "../fields.ts";

export function plainText(text: unknown): string {
  if (typeof text === "string") return text;
  if (!Array.isArray(text)) return "";
  let plain = "";
  for (const part of text) plain += typeof part === "string" ? part : partText(part);
  return plain;
}

function partText(part: unknown): string {
  const fields = fieldsOf(part);
  const text = textOf(fields?.["text"]) ?? "";
  const href = textOf(fields?.["href"]);
  // Include the target of a link whose label differs.
  return href === undefined || href === text ? text : `${text} (${href})`;
}
