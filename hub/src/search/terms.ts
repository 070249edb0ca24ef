// Splits names, descriptions and queries into terms that match each other: lower case, camelCase and snake_case apart, plural and
// verb endings removed, words that say nothing left out.

/** Words of a query or description that distinguish no tool. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    "a about above after all also an and any are as at be been before being both but by can could did do does each etc for from " +
    "given had has have how i if in into is it its just like may me might more most must my need no not of on once only or other " +
    "our please related relevant s should so some such t than that the their them then there these they this those through to too " +
    "under until up use used user using various via want was we were what when where which while who why will with would you your"
  ).split(" "),
);

/** Bounds what a description of any length costs. */
const MAX_TERMS = 2000;

/** @example termsOf("listOpenIssues of a repo") // ["list", "open", "issue", "repo"] */
export function termsOf(text: string): string[] {
  return wordsWithTerms(text).map(({ term }) => term);
}

/** With the words as they were written, in lower case. */
export function wordsWithTerms(text: string): { readonly word: string; readonly term: string }[] {
  return wordsOf(text)
    .filter((word) => !STOP_WORDS.has(word))
    .flatMap((word) => (isIdeographic(word) ? pairsOf(word) : [word]))
    .slice(0, MAX_TERMS)
    .map((word) => ({ word, term: stem(word) }));
}

/** `listHTTPIssues2` is `list http issues 2`. */
function wordsOf(text: string): string[] {
  return (
    text
      .replace(/(?<=\p{Ll}|\p{Nd})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, " ")
      .toLowerCase()
      .match(/[\p{L}\p{M}]+|\p{Nd}+/gu) ?? []
  );
}

/** Chinese, Japanese and Korean have no spaces between words: each pair of characters is a term. */
function isIdeographic(word: string): boolean {
  return /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}/u.test(word);
}

function pairsOf(word: string): string[] {
  const characters = Array.from(word);
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, index) => `${characters[index] ?? ""}${character}`);
}

/** Light: an ending that is removed wrongly only makes two words equal that differ. */
function stem(word: string): string {
  for (const [ending, replacement] of ENDINGS) {
    const kept = word.length - ending.length;
    if (kept >= 3 && word.endsWith(ending)) return trimStem(`${word.slice(0, kept)}${replacement}`);
  }
  return trimStem(word);
}

/** Longest first. */
const ENDINGS: readonly (readonly [string, string])[] = [
  ["ifications", "ify"],
  ["ification", "ify"],
  ["izations", "ize"],
  ["ization", "ize"],
  ["ations", "ate"],
  ["ation", "ate"],
  ["ments", ""],
  ["ment", ""],
  ["ities", "ity"],
  ["ings", ""],
  ["ions", ""],
  ["ing", ""],
  ["ion", ""],
  ["ies", "y"],
  ["ied", "y"],
  ["ers", ""],
  ["ors", ""],
  ["ed", ""],
  ["er", ""],
  ["or", ""],
  ["es", ""],
  ["ss", "ss"],
  ["s", ""],
];

/** `creat` and `create`, `plann` and `plan` are the same. */
function trimStem(stemmed: string): string {
  const last = stemmed.at(-1);
  if (stemmed.length > 3 && last === "e") return stemmed.slice(0, -1);
  if (stemmed.length > 3 && last === stemmed.at(-2) && last !== "s" && last !== "l") return stemmed.slice(0, -1);
  return stemmed;
}
