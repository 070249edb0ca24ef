// A message's text: one string, or a list of strings and of parts with a type.

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
  // The words of a link do not tell where it leads.
  return href === undefined || href === text ? text : `${text} (${href})`;
}
