import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "./canonical-json.ts";

describe("canonical JSON", () => {
  it.each<[unknown, string]>([
    [{ b: 1, a: [2, { d: 1, c: 2 }] }, '{"a":[2,{"c":2,"d":1}],"b":1}'],
    [JSON.parse('{"__proto__": 1, "a": 2}'), '{"__proto__":1,"a":2}'],
    [{ "10": 1, "9": 2, a: 3 }, '{"9":2,"10":1,"a":3}'],
    [{ a: undefined }, "{}"],
    [undefined, "null"],
    ["\ud800", String.raw`"\ud800"`],
  ])("%j is %s", (value, text) => expect(canonicalJson(value)).toBe(text));

  it("means the same value, and is the same text for every order of keys", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
      }),
    );
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  const result: object = Object.create(null);
  for (const [key, member] of Object.entries(value).toReversed()) Object.assign(result, { [key]: reversed(member) });
  return result;
}
