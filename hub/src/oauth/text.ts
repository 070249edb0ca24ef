// Text of an authorization server, made fit to be shown: bounded, on one line, without hidden characters, and without what we sent.

import { revealHidden } from "../lib/hidden-text.ts";

const MAX_CHARACTERS = 200;
/** Shorter values, such as an empty secret, would blank out ordinary words. */
const MIN_SECRET = 4;

/** Undefined if it is no text. `secrets`: values that must not appear, which authorization servers like to quote. */
export function shownText(
  value: unknown,
  { secrets = [], max = MAX_CHARACTERS }: { readonly secrets?: readonly string[]; readonly max?: number } = {},
): string | undefined {
  if (typeof value !== "string") return undefined;
  // Before anything is cut, so that no beginning of a secret stays.
  const text = revealHidden(hide(value, secrets).replaceAll(/\s/g, " ")).trim();
  if (text === "") return undefined;
  const characters = Array.from(text);
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join("")}…`;
}

function hide(text: string, secrets: readonly string[]): string {
  let hidden = text;
  // Longest first: one may be part of another.
  for (const form of secrets.flatMap(formsOf).toSorted((a, b) => b.length - a.length)) {
    hidden = hidden.replaceAll(form, "***");
  }
  return hidden;
}

/** A value as it is, and in the encodings in which it is sent or quoted. */
function formsOf(secret: string): string[] {
  if (secret.length < MIN_SECRET) return [];
  const bytes = Buffer.from(secret);
  const base64 = bytes.toString("base64");
  return [
    secret,
    encodeURIComponent(secret),
    new URLSearchParams({ "": secret }).toString().slice(1),
    JSON.stringify(secret).slice(1, -1),
    base64,
    base64.replaceAll("=", ""),
    bytes.toString("base64url"),
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
  ];
}
