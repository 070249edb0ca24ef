// The secret parts of a configured value: the value itself, and parts such as the token of an Authorization header or the
// password in a URL.

import { decodeUri } from "@plugboard/shared/lenient";
import { isCredentialKey } from "./credential-key.ts";

/** Shorter texts occur by chance everywhere. */
const MIN_LENGTH = 4;
/** A line of a key file is secret on its own; a short one (`-----`, `{`) is not. */
const MIN_LINE_LENGTH = 16;
const SCHEME = /^(?:Basic|Bearer|Digest|Token)\s+(\S.*)$/is;
/** Masking these would make texts unreadable, and they are no secrets. */
const COMMON =
  /^(?:true|false|null|none|undefined|default|enabled|disabled|auto|production|development|staging|localhost|bearer|basic|\/tmp)$/i;
/** The redactor's own output. */
const MASK = '"***"';

/** @example [...secretParts("Bearer abcdef")] // ["Bearer abcdef", "abcdef"] */
export function secretParts(value: string): Set<string> {
  const parts = new Set<string>();
  const add = (part: string) => {
    if (part.length >= MIN_LENGTH && !COMMON.test(part) && !MASK.includes(part)) parts.add(part);
  };
  // The trailing line break of a file is not part of the secret.
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
  return [password, decodeUri(password), ...credentials];
}
