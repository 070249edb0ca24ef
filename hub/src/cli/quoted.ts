// A word of a command line, so that it can be copied into a shell.

/** @example quoted("a b") // "'a b'" */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
