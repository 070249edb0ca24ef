// Finds what may have to be redacted in a text: e-mail addresses, phone and card numbers, bank accounts, one-time codes. All
// work on the plain view of a text (plain-view.ts).

/** A part of a text. */
export interface Span {
  readonly kind: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Begins with the `@` and matches the local part by a bounded lookbehind, so that a long text without an `@` takes no time.
 * Letters beyond ASCII are allowed.
 */
const EMAIL = /@(?<=([\p{L}\p{N}._%+'-]{1,64})@)(?:[\p{L}\p{N}-]{1,63}\.){1,8}[\p{L}\p{N}-]{2,63}/gu;

export function findEmails(view: string): readonly Span[] {
  if (!view.includes("@")) return [];
  const found: Span[] = [];
  for (const { 0: domain, 1: local = "", index } of view.matchAll(EMAIL)) {
    const start = Math.max(index - local.length, found.at(-1)?.end ?? 0);
    // The local part must not overlap the address before it.
    if (start < index) found.push({ kind: "email", start, end: index + domain.length });
  }
  return found;
}

const IBAN_START = /(?<![A-Z0-9])[A-Z]{2}\d{2}/gi;
const LETTER_OR_DIGIT = /[A-Z0-9]/i;
/** The length of an IBAN depends on its country. Words after it must not be taken for a part of it. */
const IBAN_LENGTHS: ReadonlyMap<string, number> = new Map(
  `AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18
  FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20
  LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24
  SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30`
    .split(/\s+/)
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

export function findIbans(view: string): readonly Span[] {
  return [...view.matchAll(IBAN_START)].flatMap(({ index }) => ibanAt(view, index) ?? []);
}

/** The IBAN that begins here, perhaps written in groups, if its check digits are right. */
function ibanAt(view: string, start: number): Span | undefined {
  const length = IBAN_LENGTHS.get(view.slice(start, start + 2).toUpperCase());
  if (length === undefined) return undefined;
  let letters = "";
  for (let at = start; at < view.length; at++) {
    const character = view[at] ?? "";
    if (LETTER_OR_DIGIT.test(character)) letters += character.toUpperCase();
    else if (!/[ -]/.test(character) || !LETTER_OR_DIGIT.test(view[at + 1] ?? "")) return undefined;
    if (letters.length < length) continue;
    const isWhole = !LETTER_OR_DIGIT.test(view[at + 1] ?? "");
    return isWhole && passesCheck(letters) ? { kind: "iban", start, end: at + 1 } : undefined;
  }
  return undefined;
}

/** ISO 7064: the first four characters move to the end, letters count from ten. */
function passesCheck(iban: string): boolean {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    for (const digit of String(Number.parseInt(character, 36))) rest = (rest * 10 + Number(digit)) % 97;
  }
  return rest === 1;
}

/** Digits with at most two separators between them. */
const DIGIT_RUN = /\+?\(?\d(?:[ .\-()/]{0,2}\d)*/g;
const DATES = [
  /^\d{4}[-./]\d{1,2}[-./]\d{1,2}$/,
  /^\d{1,2}[-./]\d{1,2}[-./](?:\d{2}|\d{4})$/,
  /^\d{4}-\d{2}-\d{2} \d{1,2}$/,
];
const IP_ADDRESS = /^\d{1,3}(?:\.\d{1,3}){3}$/;
/** Without a plus or groups, fewer digits are more likely an amount or an id. */
const MIN_BARE_DIGITS = 9;
const MIN_DIGITS = 7;
const MAX_DIGITS = 15;

export function findPhones(view: string): readonly Span[] {
  return runsOf(view)
    .flatMap(splitNumbers)
    .filter(isPhone)
    .map(({ start, end }) => ({ kind: "phone", start, end }));
}

export function findCards(view: string): readonly Span[] {
  return runsOf(view).flatMap(cardsIn);
}

interface Run {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

function runsOf(view: string): readonly Run[] {
  return [...view.matchAll(DIGIT_RUN)].map(({ 0: text, index }) => ({ text, start: index, end: index + text.length }));
}

/** Splits a run of several numbers with spaces between them, if each part is long enough for a number. */
function splitNumbers(run: Run): readonly Run[] {
  if (digitsOf(run.text).length <= MAX_DIGITS) return [run];
  const parts = [...run.text.matchAll(/[^ ]+/g)].map(({ 0: text, index }) => {
    return { text, start: run.start + index, end: run.start + index + text.length };
  });
  return parts.every(({ text }) => digitsOf(text).length >= MIN_DIGITS) ? parts : [run];
}

function isPhone({ text }: Run): boolean {
  const count = digitsOf(text).length;
  if (text.startsWith("+")) return count >= MIN_DIGITS;
  if (DATES.some((date) => date.test(text)) || IP_ADDRESS.test(text)) return false;
  return count >= (/^\d+$/.test(text) ? MIN_BARE_DIGITS : MIN_DIGITS);
}

/** A card number may be followed by its date, so every sequence of whole groups is tried, the longest first. */
function cardsIn({ text, start }: Run): readonly Span[] {
  const groups = [...text.matchAll(/\d+/g)];
  for (let from = 0; from < groups.length; from++) {
    for (let to = groups.length - 1; to >= from; to--) {
      const digits = groups
        .slice(from, to + 1)
        .map(([group]) => group)
        .join("");
      if (digits.length < 13) break;
      if (digits.length > 19 || !passesLuhn(digits)) continue;
      const [first, last] = [groups[from], groups[to]];
      if (first === undefined || last === undefined) continue;
      const end = last.index + last[0].length;
      const rest = { text: text.slice(end), start: start + end, end: start + text.length };
      return [{ kind: "card", start: start + first.index, end: start + end }, ...cardsIn(rest)];
    }
  }
  return [];
}

function passesLuhn(digits: string): boolean {
  const sum = digits
    .split("")
    .toReversed()
    .reduce((total, digit, index) => {
      const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
}

function digitsOf(text: string): string {
  return text.replace(/\D/g, "");
}

/** One-time codes: a few digits near a word that names them. */
const CODE = /(?<!\d)(?:\d{4,8}|\d{3}[ -]\d{3}|\d{4}[ -]\d{4})(?!\d)/g;
const LETTERED =
  "codes?|passcodes?|pins?|pin-?codes?|otp|2fa|tan|passwords?|verification|código|codigo|codice|kod|koodi|kode|mã|код\\p{L}{0,3}|пин\\p{L}{0,3}|парол\\p{L}{1,3}|رمز|كود|کد|קוד|कोड";
/** Scripts without spaces have no word boundaries. */
const UNSPACED = "验证码|驗證碼|校验码|动态码|密码|認証|コード|暗証番号|인증|코드|비밀번호|รหัส";
const CODE_WORD = new RegExp(`(?<!\\p{L})(?:${LETTERED})(?!\\p{L})|${UNSPACED}`, "giu");
/** Characters between a code and the word. */
const NEAR = 40;

export function findCodes(view: string): readonly Span[] {
  const words = [...view.matchAll(CODE_WORD)].map(({ 0: word, index }) => ({ start: index, end: index + word.length }));
  if (words.length === 0) return [];
  return [...view.matchAll(CODE)]
    .map(({ 0: code, index }) => ({ kind: "code", start: index, end: index + code.length }))
    .filter(({ start, end }) => words.some((word) => start - word.end <= NEAR && word.start - end <= NEAR));
}
