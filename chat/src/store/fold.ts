// Names as they are compared: without case and accents.

/** Accents of Latin, Greek and Cyrillic only: in other scripts a mark makes another letter. */
const ACCENTS = /[\u0300-\u036f]+/g;
const ASCII = /^[\x20-\x7e]*$/;

export function fold(text: string): string {
  return ASCII.test(text) ? text.toLowerCase() : withoutAccents(text).toLowerCase();
}

/** Also one form for what looks alike: full-width letters, ligatures, composed characters. */
export function withoutAccents(text: string): string {
  return text.normalize("NFKD").replace(ACCENTS, "").normalize("NFC");
}

/** The digits of what looks like a phone number, however it is written; else undefined. */
export function phoneDigits(text: string): string | undefined {
  if (!/^\+?[\d\s().\-/]+$/.test(text)) return undefined;
  const digits = text.replace(/\D/g, "");
  return digits.length < 5 ? undefined : digits;
}
