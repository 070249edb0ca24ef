// How well a text answers what was typed into the palette.

/**
 * Zero: not at all. Every word has to be found: at the start of a word, anywhere, or as letters in order. Words may come in any order,
 * so that "restart github" and "github restart" find the same.
 */
export function score(text: string, query: readonly string[]): number {
  let sum = 1;
  for (const word of query) {
    const found = scoreWord(text, word);
    if (found === 0) return 0;
    sum += found;
  }
  // Of two equal ones the shorter is meant.
  return sum - Math.min(0.9, text.length / 1000);
}

export const wordsOf = (typed: string): string[] => typed.toLowerCase().split(/\s+/).filter(Boolean);

/** The best of the list, at most `limit`; equal ones in their order. */
export function best<T>(list: readonly T[], textOf: (item: T) => string, query: readonly string[], limit: number): T[] {
  return list
    .flatMap((item) => {
      const points = score(textOf(item), query);
      return points === 0 ? [] : [{ item, points }];
    })
    .toSorted((a, b) => b.points - a.points)
    .slice(0, limit)
    .map(({ item }) => item);
}

function scoreWord(text: string, word: string): number {
  const at = text.indexOf(word);
  if (at === 0) return 8;
  if (at > 0) return /[\w]/.test(text[at - 1] ?? "") ? 4 : 6;
  return hasInOrder(text, word) ? 1 : 0;
}

function hasInOrder(text: string, letters: string): boolean {
  let at = -1;
  for (const letter of letters) {
    at = text.indexOf(letter, at + 1);
    if (at === -1) return false;
  }
  return true;
}
