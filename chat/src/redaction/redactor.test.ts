// What is redacted, and what is not.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { REDACTION_KINDS, Redactor } from "./redactor.ts";

const all = () => new Redactor({ kinds: REDACTION_KINDS });

describe("redaction", () => {
  it.each([
    ["call +1 555 000 0001 now", "call [phone-1] now"],
    ["+358401234567", "[phone-1]"],
    ["(555) 010-0199", "[phone-1]"],
    ["040-1234567", "[phone-1]"],
    ["5550100199", "[phone-1]"],
    ["٠٥٥٥٠١٠٠١٩٩", "[phone-1]"],
    ["+1\u202f555\u00a0010\u20110199", "[phone-1]"],
    ["555\u200b0100\u200b199", "[phone-1]"],
    ["0401234567 0507654321", "[phone-1] [phone-2]"],
    ["+358401234567+358507654321", "[phone-1][phone-2]"],
    ["ann.lee+x@mail.example.org, bob@example.com.", "[email-1], [email-2]."],
    ["почта: иван@пример.рф", "почта: [email-1]"],
    ["4111 1111 1111 1111 12/27", "[card-1] 12/27"],
    ["4111-1111-1111-1111", "[card-1]"],
    ["378282246310005", "[card-1]"],
    ["IBAN DE89 3704 0044 0532 0130 00 and more", "IBAN [iban-1] and more"],
    ["gb29nwbk60161331926819", "[iban-1]"],
    ["FI2112345600000785", "[iban-1]"],
    ["Your code is 482913", "Your code is [code-1]"],
    ["482 913 is your verification code", "[code-1] is your verification code"],
    ["Ваш код: 4829", "Ваш код: [code-1]"],
    ["【验证码】您的验证码是482913，请勿泄露", "【验证码】您的验证码是[code-1]，请勿泄露"],
    [`PIN 1234${" and so on".repeat(10)} 1234`, `PIN [code-1]${" and so on".repeat(10)} [code-1]`],
  ])("CH-12 hides in %j", (text, expected) => {
    expect(all().text(text)).toBe(expected);
  });

  it.each([
    "",
    "see you at 18:30 on 2025-01-13, or 13.1.2025",
    "2025-01-13 10:00",
    "it costs 1200 euros",
    "in 2024 we were 12345",
    "the codec has 4829 parts",
    "10.0.0.1 is the router",
    "DE00 BANK 0044 is no account",
    "a@b is no address",
    "family 👨‍👩‍👧 and می‌خواهم",
  ])("CH-12 leaves %j as it is", (text) => {
    expect(all().text(text)).toBe(text);
  });

  it("CH-12 gives the same original the same tag in any notation, without revealing it", () => {
    const redactor = all();
    expect(redactor.text("+1 555 010 0199")).toBe("[phone-1]");
    expect(redactor.text("+44 20 7946 0958")).toBe("[phone-2]");
    expect(redactor.text("+15550100199 or Ann@Example.org")).toBe("[phone-1] or [email-1]");
    expect(redactor.text("ann@example.org")).toBe("[email-1]");
  });

  it("CH-12 hides only the configured kinds", () => {
    const text = "ann@example.org +15550100199";
    expect(new Redactor({}).text(text)).toBe(text);
    expect(new Redactor({ kinds: ["email"] }).text(text)).toBe("[email-1] +15550100199");
  });

  it("CH-12 applies the user's patterns, and refuses an invalid one", () => {
    const redactor = new Redactor({ patterns: [{ name: "ticket", pattern: "TCK-\\d+" }] });
    expect(redactor.text("TCK-17 is like TCK-18, TCK-17")).toBe("[ticket-1] is like [ticket-2], [ticket-1]");
    expect(new Redactor({ patterns: [{ name: "x", pattern: "a*" }] }).text("bab")).toBe("b[x-1]b");
    const invalid = expect.objectContaining({ code: "INVALID_PARAMETER" });
    expect(() => new Redactor({ patterns: [{ name: "x", pattern: "(" }] })).toThrow(invalid);
    expect(() => new Redactor({ patterns: [{ name: "]x", pattern: "a" }] })).toThrow(invalid);
  });

  it("CH-12 is fast for long texts without matches", () => {
    const texts = ["a".repeat(200_000), "1 a ".repeat(50_000), "+".repeat(100_000), "@.".repeat(100_000)];
    for (const text of texts) expect(all().text(text)).toBe(text);
  });
});

const digits = (count: number) => fc.stringMatching(new RegExp(`^[0-9]{${count}}$`));

/** Appends the Luhn check digit. */
const card = digits(15).map((body) => {
  const sum = body
    .split("")
    .toReversed()
    .reduce((total, digit, index) => {
      const value = Number(digit) * (index % 2 === 0 ? 2 : 1);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return `${body}${(10 - (sum % 10)) % 10}`.replace(/(\d{4})(?=\d)/g, "$1 ");
});

const iban = digits(18).map((account) => {
  const check = 98n - (BigInt(`${account}131400`) % 97n);
  return `DE${String(check).padStart(2, "0")}${account}`;
});

const secret = fc.oneof(
  digits(9).map((number) => `+1${number}`),
  fc.tuple(digits(3), digits(4)).map(([area, number]) => `(555) ${area}-${number}`),
  fc.stringMatching(/^[a-z]{1,8}[.][a-z]{1,8}@[a-z]{2,8}[.](?:com|org)$/),
  card,
  iban,
);
const code = fc.stringMatching(/^[1-9][0-9]{5}$/);
const filler = fc.constantFrom(" ", ", ", "\n", " and ", " 你好，", "; или ", " (", ") ");

describe("redacted texts", () => {
  it("CH-12 contain no original, in any context and order", () => {
    const part = fc.tuple(
      filler,
      fc.oneof(
        secret.map((text) => [text, text]),
        code.map((text) => [`code: ${text}`, text]),
      ),
    );
    fc.assert(
      fc.property(fc.array(fc.array(part, { maxLength: 8 }), { maxLength: 5 }), (texts) => {
        const redactor = all();
        for (const parts of texts) {
          const output = redactor.text(parts.map(([between, [text]]) => between + (text ?? "")).join(""));
          for (const [, [, original = "-"]] of parts) expect(output).not.toContain(original);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("CH-12 property: redacting any text never fails, and never reveals more", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 60 }),
        fc.string({ unit: "binary", maxLength: 60 }),
        (before, after) => {
          const output = all().text(`${before}\n+1 555 010 0199\n${after}`);
          expect(output).not.toContain("555 010 0199");
        },
      ),
      { numRuns: 500 },
    );
  });
});
