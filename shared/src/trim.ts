// Removes given characters from the ends of a text. By position: the regular expression `/x+$/` is quadratic on long runs of x.

/** @example trimEnd("http://host//", "/") // "http://host" */
export function trimEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** @example trimEnds("--a-b-", "-") // "a-b" */
export function trimEnds(text: string, characters: string): string {
  let start = 0;
  while (start < text.length && characters.includes(text.charAt(start))) start++;
  return trimEnd(text.slice(start), characters);
}
