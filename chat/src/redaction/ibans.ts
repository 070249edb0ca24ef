// Bank accounts: an IBAN proves itself by its check digits.

import type { Span } from "./span.ts";

const START = /(?<![A-Z0-9])[A-Z]{2}\d{2}/gi;
const LETTER_OR_DIGIT = /[A-Z0-9]/i;
/** How long one is depends on its country: words that follow it must not be taken for a part of it. */
const LENGTHS: ReadonlyMap<string, number> = new Map(
  `AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18
  FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20
  LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24
  SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30`
    .split(/\s+/)
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

export function findIbans(view: string): readonly Span[] {
  return [...view.matchAll(START)].flatMap(({ index }) => findAt(view, index) ?? []);
}

/** It may be written in groups. */
function findAt(view: string, start: number): Span | undefined {
  const length = LENGTHS.get(view.slice(start, start + 2).toUpperCase());
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

/** ISO 7064: the first four go to the end, letters count from ten. */
function passesCheck(iban: string): boolean {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    for (const digit of String(Number.parseInt(character, 36))) rest = (rest * 10 + Number(digit)) % 97;
  }
  return rest === 1;
}
