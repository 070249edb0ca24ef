// Which servers match the words of a search.

import type { ServerSummary } from "../model.ts";

export function wordsOf(query: string): string[] {
  return query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
    .slice(0, 20);
}

/** 0: it does not have every word. */
export function score({ name, title = "", description = "" }: ServerSummary, words: readonly string[]): number {
  const [inName, inTitle, inText] = [name.toLowerCase(), title.toLowerCase(), description.toLowerCase()];
  let sum = 1;
  for (const word of words) {
    if (inName.slice(inName.lastIndexOf("/") + 1).includes(word)) sum += 8;
    else if (inName.includes(word)) sum += 4;
    else if (inTitle.includes(word)) sum += 3;
    else if (inText.includes(word)) sum += 1;
    else return 0;
  }
  return sum;
}
