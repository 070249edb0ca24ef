// Guesses whether a value is a common word or path, or random enough to be a secret. Used for values of variables, headers, user
// names and url paths that have no name or mark that says so.

/** Shorter values occur in many texts by chance. */
const MIN_LENGTH = 8;
/** From this length on, even words are unlikely to occur by chance: a passphrase. */
const MAX_WORDS_LENGTH = 24;
const MAX_WORD = 20;
/** Minimum length of a key in a path. */
const MIN_RANDOM = 16;
/** `eu`, `Bucket`, `v2`, `python3`, `8080`, `10s` */
const WORD = /^(?:[a-z]+\d{0,4}|\d+[a-z]{0,3})$/i;
const HEX = /^[0-9a-f]{12,}$/i;
/** Paths, hosts, urls and media types are long without being secret. */
const PATH_LIKE = /[/\\.:]/;

/** @example isCommonplace("eu-west-1") // true */
export function isCommonValue(value: string): boolean {
  if (value.length < MIN_LENGTH) return true;
  return consistsOfWords(value) && (PATH_LIKE.test(value) || value.length < MAX_WORDS_LENGTH);
}

/** @example isRandom("mzFq2uR81kXw90Lp") // true */
export function isRandom(part: string): boolean {
  return part.replaceAll(/[^A-Za-z0-9]/g, "").length >= MIN_RANDOM && !consistsOfWords(part);
}

function consistsOfWords(text: string): boolean {
  const nonWords = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== "" && !isWord(word));
  // Names may contain one short part that is no word: i18n, 31T10.
  return nonWords.length === 0 || (nonWords.length === 1 && nonWords[0] !== undefined && nonWords[0].length < 6);
}

function isWord(word: string): boolean {
  if (word.length > MAX_WORD || HEX.test(word)) return false;
  return WORD.test(word) && (word.match(/[a-z][A-Z]/g) ?? []).length < 3;
}
