// What must not be seen of a configured value: the value itself, and the parts that are secret on their own, such as the
// token of an Authorization header or the password in a URL.

import { isCredentialKey } from "../config/credential-key.ts";

/** Shorter ones stand in every other text by chance. */
const MIN_LENGTH = 4;
/** A line of a key file is telling on its own; a short one (`-----`, `{`) is not. */
const MIN_LINE_LENGTH = 16;
const SCHEME = /^(?:Basic|Bearer|Digest|Token)\s+(\S.*)$/is;
/** Hidden, they would make every other text unreadable, and their place in a config tells nobody anything. */
const COMMON =
  /^(?:true|false|null|none|undefined|default|enabled|disabled|auto|production|development|staging|localhost|bearer|basic|\/tmp)$/i;
/** What the redactor itself writes. */
const MASK = '"***"';

/** @example [...secretParts("Bearer abcdef")] // ["Bearer abcdef", "abcdef"] */
export function secretParts(value: string): Set<string> {
  const parts = new Set<string>();
  const add = (part: string) => {
    if (part.length >= MIN_LENGTH && !COMMON.test(part) && !MASK.includes(part)) parts.add(part);
  };
  // The end of the line that a file ends with is not part of what was meant.
  for (const whole of [value, value.trim()]) add(whole);
  const token = SCHEME.exec(value.trim())?.[1];
  if (token !== undefined) add(token);
  for (const line of value.split(/\r?\n/)) if (line.length >= MIN_LINE_LENGTH) add(line);
  if (value.includes("://")) for (const part of urlParts(value.trim())) add(part);
  return parts;
}

function urlParts(value: string): string[] {
  if (!URL.canParse(value)) return [];
  const { password, searchParams } = new URL(value);
  const credentials = [...searchParams].filter(([name]) => isCredentialKey(name)).map(([, given]) => given);
  return [password, decoded(password), ...credentials];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
