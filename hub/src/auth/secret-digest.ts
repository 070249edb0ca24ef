// Random secrets that are kept as digests only, so that neither a log nor a file has anything that could be used.

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** 256 bits, 43 characters. */
export function randomSecret(): string {
  return randomBytes(32).toString("base64url");
}

export function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** In constant time. */
export function isSameDigest(one: Buffer, other: Buffer): boolean {
  return timingSafeEqual(one, other);
}
