import fc from "fast-check";
import { expect, it } from "vitest";
import { shapeOf } from "./json-shape.ts";

const shape = (value: unknown): unknown => JSON.parse(String(shapeOf(Buffer.from(JSON.stringify(value)))));

it("RS-4 a shape has names, types and sizes", () => {
  expect(shape({ q: "hello", n: 5, ok: true, none: null, list: ["a", 1, {}, [], 2], __proto__: null })).toEqual({
    q: "string of 5",
    n: "number",
    ok: "boolean",
    none: null,
    list: ["string of 1", "number", {}, "2 more"],
  });
});

it("RS-4 a shape holds no value, and stays small", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 20 }), fc.jsonValue(), (text, other) => {
      fc.pre(!JSON.stringify(other).includes(text.slice(0, 20)));
      expect(JSON.stringify(shape([{ a: text }, other]))).not.toContain(JSON.stringify(text).slice(1, 20));
    }),
  );
  const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, "x".repeat(100)]));
  expect(shapeOf(Buffer.from(JSON.stringify([wide, wide, wide]))).length).toBeLessThan(10_000);
  expect(String(shapeOf(Buffer.from("{not json")))).toBe('"9 bytes"');
});
