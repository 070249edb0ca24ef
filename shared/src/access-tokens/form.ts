// The text of an access token of the hub: 256 random bits and a checksum, so that a typing error, or a token of another program, is
// known as such without a look-up. Secret scanners recognise the prefix.

import { hash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/** Made by a person; issued to an OAuth client; to get the next issued one with. */
export type TokenPrefix = "pbt_" | "pbo_" | "pbr_";

const MADE: TokenPrefix = "pbt_";
const CHECKSUM_CHARS = 6;
const FORM = /^pb[to]_([A-Za-z0-9_-]{43})([0-9A-Za-z]{6})$/;
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** Enough to tell tokens apart in a list, too little to use. */
const SHOWN_CHARS = MADE.length + 4;

export function makeAccessToken(prefix: TokenPrefix = MADE): string {
  const secret = randomBytes(32).toString("base64url");
  return `${prefix}${secret}${checksumOf(secret)}`;
}

export function isAccessToken(text: string): boolean {
  const [, secret, checksum] = FORM.exec(text) ?? [];
  return secret !== undefined && checksumOf(secret) === checksum;
}

/** It begins like one that a person has made, whether it is one or not. Those of OAuth clients are for the hub's own endpoints only. */
export function looksMade(text: string): boolean {
  return text.startsWith(MADE);
}

export function startOf(token: string): string {
  return token.slice(0, SHOWN_CHARS);
}

/** Tokens are stored and looked up by it. */
export function accessTokenDigest(token: string): string {
  return hash("sha256", token, "base64");
}

/** CRC-32 in base 62. */
function checksumOf(secret: string): string {
  let rest = crc32(secret);
  let text = "";
  for (let place = 0; place < CHECKSUM_CHARS; place++) {
    text = `${DIGITS[rest % DIGITS.length]}${text}`;
    rest = Math.floor(rest / DIGITS.length);
  }
  return text;
}
