// Tells small JSON in which there is nothing to hide but what is known to be secret, in one pass. Nearly every call's parameters
// and results are such; for a few hundred bytes it costs a third of asking for each thing that may have to be hidden by itself.

import { isAfterCredential } from "./credential-members.ts";

/** Beyond it, looking for one byte after the other with the machine's own means is faster than a look at all of them. */
const MAX_BYTES = 1024;
const COLON = 0x3a;
const ORDINARY = 0;
const EVIDENT = 1;

/** What a byte says: escapes may stand for a secret, line breaks have to go, and a name stands before a colon. */
const MEANING = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x20 || byte === 0x5c || byte === 0x25 ? EVIDENT : byte === COLON ? COLON : ORDINARY,
);

/** True only where it is on one line, without escapes, and without a member that is a credential by its name. */
export function isPlainJson(bytes: Buffer): boolean {
  if (bytes.length > MAX_BYTES) return false;
  const end = bytes.length & ~3;
  // Four at a time: most say nothing.
  for (let at = 0; at < end; at += 4) {
    const meaning =
      meaningAt(bytes, at) | meaningAt(bytes, at + 1) | meaningAt(bytes, at + 2) | meaningAt(bytes, at + 3);
    if (meaning !== ORDINARY && !isHarmless(bytes, at, at + 4)) return false;
  }
  return isHarmless(bytes, end, bytes.length);
}

function isHarmless(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const meaning = meaningAt(bytes, at);
    if (meaning === EVIDENT || (meaning === COLON && isAfterCredential(bytes, at))) return false;
  }
  return true;
}

function meaningAt(bytes: Buffer, at: number): number {
  // Within bounds; the zeros are for the compiler.
  return MEANING[bytes[at] ?? 0] ?? 0;
}
