// The access list of a group as one line of text.

/** In place of a list without entries. */
const NOBODY = "none";

/** Empty for a group without a list. */
export function accessText(access: readonly string[] | null): string {
  return access === null ? "" : access.join(", ") || NOBODY;
}

/** Undefined: no list. */
export function parseAccess(text: string): string[] | undefined {
  const entries = text.split(/[,\s]/).filter((entry) => entry !== "");
  if (entries.length === 0) return undefined;
  return entries.length === 1 && entries[0] === NOBODY ? [] : entries;
}
