// The colour that marks a server everywhere: one of eight, from its name, so that it is the same in every browser.

/** 1 to 8: the number of the token --c1 … --c8. FNV-1a, then mixed: its low bits alone hardly differ for short names. */
export function cableOf(name: string): number {
  let hash = 0x811c9dc5;
  for (const character of name) {
    hash ^= character.codePointAt(0) ?? 0;
    hash = Math.imul(hash, 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 29) + 1;
}
