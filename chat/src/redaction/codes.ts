// One-time codes: a few digits near a word that says what they are.

import type { Span } from "./span.ts";

const CODE = /(?<!\d)(?:\d{4,8}|\d{3}[ -]\d{3}|\d{4}[ -]\d{4})(?!\d)/g;
const LETTERED =
  "codes?|passcodes?|pins?|pin-?codes?|otp|2fa|tan|passwords?|verification|código|codigo|codice|kod|koodi|kode|mã|код\\p{L}{0,3}|пин\\p{L}{0,3}|парол\\p{L}{1,3}|رمز|كود|کد|קוד|कोड";
/** In scripts without spaces a word has no borders. */
const UNSPACED = "验证码|驗證碼|校验码|动态码|密码|認証|コード|暗証番号|인증|코드|비밀번호|รหัส";
const WORD = new RegExp(`(?<!\\p{L})(?:${LETTERED})(?!\\p{L})|${UNSPACED}`, "giu");
const NEAR = 40;

export function findCodes(view: string): readonly Span[] {
  const words = [...view.matchAll(WORD)].map(({ 0: word, index }) => ({ start: index, end: index + word.length }));
  if (words.length === 0) return [];
  return [...view.matchAll(CODE)]
    .map(({ 0: code, index }) => ({ kind: "code", start: index, end: index + code.length }))
    .filter(({ start, end }) => words.some((word) => start - word.end <= NEAR && word.start - end <= NEAR));
}
