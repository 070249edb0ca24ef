// Whether a value could be anyone's, or is one that nobody would choose. Decides only where neither a name nor a mark
// tells: what comes out of a variable, a header, a user name, the path of an address.

/** Shorter ones stand in every other text by chance. */
const MIN_LENGTH = 8;
/** As long as this, even words are not there by chance: a passphrase. */
const MAX_WORDS_LENGTH = 24;
const MAX_WORD = 20;
/** Where a key has its own name in a path or an address, it is at least this long. */
const MIN_RANDOM = 16;
/** `eu`, `Bucket`, `v2`, `python3`, `8080`, `10s` */
const WORD = /^(?:[a-z]+\d{0,4}|\d+[a-z]{0,3})$/i;
const HEX = /^[0-9a-f]{12,}$/i;
/** Paths, hosts, addresses, types: they are long without being secret. */
const PLACE = /[/\\.:]/;

/** @example isCommonplace("eu-west-1") // true */
export function isCommonplace(value: string): boolean {
  if (value.length < MIN_LENGTH) return true;
  return isMadeOfWords(value) && (PLACE.test(value) || value.length < MAX_WORDS_LENGTH);
}

/** @example isRandom("mzFq2uR81kXw90Lp") // true */
export function isRandom(part: string): boolean {
  return part.replaceAll(/[^A-Za-z0-9]/g, "").length >= MIN_RANDOM && !isMadeOfWords(part);
}

function isMadeOfWords(text: string): boolean {
  const others = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== "" && !isWord(word));
  // One short piece of another form is in many a name: i18n, 31T10.
  return others.length === 0 || (others.length === 1 && others[0] !== undefined && others[0].length < 6);
}

function isWord(word: string): boolean {
  if (word.length > MAX_WORD || HEX.test(word)) return false;
  return WORD.test(word) && (word.match(/[a-z][A-Z]/g) ?? []).length < 3;
}
