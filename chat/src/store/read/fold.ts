// Normalizes names and phone numbers for comparison.

/** Accents of Latin, Greek and Cyrillic only: in other scripts a mark makes a different letter. */
const ACCENTS = /[\u0300-\u036f]+/g;
const ASCII = /^[\x20-\x7e]*$/;

export function fold(text: string): string {
  return ASCII.test(text) ? text.toLowerCase() : withoutAccents(text).toLowerCase();
}

/** Also unifies full-width letters, ligatures and composed characters. */
export function withoutAccents(text: string): string {
  return text.normalize("NFKD").replace(ACCENTS, "").normalize("NFC");
}

/** E.164 allows 15 digits; the shortest numbers in use have 8. */
const INTERNATIONAL = /^[1-9]\d{7,14}$/;

/** The digits of a phone number with country code. Undefined for national numbers, which two countries can share. */
export function internationalNumber(text: string): string | undefined {
  const plain = text.replaceAll(/[\p{Cf}\s]/gu, "");
  const prefix = /^(?:\+|00)/.exec(plain)?.[0];
  const digits = prefix === undefined ? undefined : phoneDigits(plain.slice(prefix.length));
  return digits !== undefined && INTERNATIONAL.test(digits) ? digits : undefined;
}

/** The digits of a text that looks like a phone number, in any notation; else undefined. */
export function phoneDigits(text: string): string | undefined {
  if (!/^\+?[\d\s().\-/]+$/.test(text)) return undefined;
  const digits = text.replace(/\D/g, "");
  return digits.length < 5 ? undefined : digits;
}
