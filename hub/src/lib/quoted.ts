// Quotes a word for a POSIX shell.

/** @example quoted("a b") // "'a b'" */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
