import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasCredentialMember } from "./credential-members.ts";
import { isPlainJson } from "./plain-json.ts";

describe("T12 JSON with nothing to hide by itself", () => {
  it.each<[json: string, isPlain: boolean]>([
    ["{}", true],
    ['{"text":"hello","count":3}', true],
    ['{"content":[{"type":"text","text":"12:30, a: b"}]}', true],
    ['{"token":"x"}', false],
    ['{"a":{"X-Api-Key" : "x"}}', false],
    ["{'password': 'x'}", false],
    [String.raw`{"text":"a\"b"}`, false],
    [String.raw`{"text":"\u0041"}`, false],
    ['{"text":"%41"}', false],
    ['{\n"text":"a"}', false],
    ['{"text":\r"a"}', false],
    [`"${"x".repeat(2000)}"`, false],
  ])("%s: %s", (json, isPlain) => {
    expect(isPlainJson(Buffer.from(json))).toBe(isPlain);
  });

  // Four bytes are looked at together: what tells may stand at any place in one, beside bytes of any value.
  it("is told from what is not, by any byte at any place", () => {
    const around = fc.stringMatching(/^[ !#$&-9;-[\]-~äß𝄞]{0,9}$/u);
    fc.assert(
      fc.property(
        around,
        fc.constantFrom("", "\0", "\n", "\u001F", "%", "\\", '"token":'),
        around,
        (before, telling, after) => {
          expect(isPlainJson(Buffer.from(before + telling + after))).toBe(telling === "");
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("has no member that is a credential, no escape and no line break", () => {
    const letter = fc.constantFrom('"', "'", ":", " ", "\\", "%", "\n", "token", "password", "key", "a", "{", "}", ",");
    fc.assert(
      fc.property(fc.array(letter, { maxLength: 12 }), (letters) => {
        const text = letters.join("");
        fc.pre(isPlainJson(Buffer.from(text)));
        expect(hasCredentialMember(Buffer.from(text))).toBe(false);
        expect(text).not.toMatch(/[\\%\n\r]/);
      }),
    );
  });
});
