import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutJson } from "./cut-json.ts";

const cut = (text: string, maxBytes: number) => cutJson(Buffer.from(text), maxBytes).toString();

describe("cutJson", () => {
  it.each([
    ['{"a":1,"b":"hello"}', 100, '{"a":1,"b":"hello"}'],
    ['{"a":1,"b":"hello"}', 15, '{"a":1,"b":"h"}'],
    ['{"a":1,"long key":"hello"}', 15, '{"a":1}'],
    ['{"a":1,"b":12345678}', 15, '{"a":1}'],
    ["[[1,2],[3,4]]", 10, "[[1,2],[]]"],
    ['["é€😀"]', 9, '["é€"]'],
    ['["é€😀"]', 8, '["é"]'],
    ['["é€😀"]', 12, '["é€"]'],
    ['["ab\\u00e9"]', 9, '["ab"]'],
    ['["ab\\\\"]', 7, '["ab"]'],
    ["123456", 3, "null"],
    ['"hello"', 4, '"he"'],
  ])("RS-4 %s in %i bytes is %s", (text, maxBytes, expected) => {
    expect(cut(text, maxBytes)).toBe(expected);
  });

  it("RS-4 any prefix of any JSON becomes valid JSON within the limit", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 4, max: 200 }), fc.boolean(), (value, maxBytes, pretty) => {
        const text = JSON.stringify(value, null, pretty ? 2 : 0);
        const result = cut(text, maxBytes);
        expect(Buffer.byteLength(result)).toBeLessThanOrEqual(maxBytes);
        expect(() => JSON.parse(result) as unknown).not.toThrow();
        if (Buffer.byteLength(text) <= maxBytes) expect(JSON.parse(result)).toEqual(JSON.parse(text));
      }),
      { numRuns: 2000 },
    );
  });

  it("RS-4 a truncated JSON text becomes a complete one", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat({ max: 300 }), (value, length) => {
        const bytes = Buffer.from(JSON.stringify([value, "é"], (_key, item: unknown) => item));
        const prefix = bytes.subarray(0, length);
        expect(() => JSON.parse(cutJson(prefix, prefix.length).toString()) as unknown).not.toThrow();
      }),
      { numRuns: 2000 },
    );
  });
});
