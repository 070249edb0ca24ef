// One line about the parameters of a call, for lists.

import { parseJson } from "@plugboard/shared/lenient";
import { isObject } from "../lib/json/json.ts";

const MAX_LENGTH = 120;
/** How much of the parameters a preview needs. Longer ones are shown as they begin. */
export const PREVIEW_SOURCE = 1000;

/** @example previewOf('{"q":"bug","n":3}') === 'q="bug" n=3' */
export function previewOf(params: string | null): string {
  if (params === null) return "";
  const value = params.length < PREVIEW_SOURCE ? parseJson(params) : undefined;
  if (!isObject(value)) return shorten(params);
  const entries = Object.entries(value).map(([name, member]) => `${name}=${JSON.stringify(member)}`);
  return shorten(entries.join(" "));
}

function shorten(text: string): string {
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH - 1)}…`;
}
