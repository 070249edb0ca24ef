import { describe, expect, it } from "vitest";
import { findExcess, MAX_ELEMENTS, MAX_KEYS, MIN_EXCESS_BYTES } from "./json-limits.ts";

const strict = { unique: true, wellFormed: true };
const list = (length: number) => JSON.stringify(Array.from({ length }, () => 1));
const object = (length: number) => JSON.stringify(Object.fromEntries(Array.from({ length }, (_, n) => [`k${n}`, 1])));

describe("T20 T36 limits of JSON from outside", () => {
  it.each([
    "{}",
    "[]",
    '{"a":{"a":[{"a":1},{"a":2}]},"b":"a"}',
    '{"a":"\\ud83d\\ude00 😀","b":"\\\\ud800"}',
    '{"a":"}],{[\\"","b":[",",","]}',
    list(MAX_ELEMENTS),
    object(MAX_KEYS),
  ])("%.60s is accepted", (json) => expect(findExcess(json, strict)).toBeUndefined());

  it.each([
    ['{"name":"z3","name":"z4"}', 'Duplicate key "name"'],
    ['{"x":[{"a":1, "\\u0061" : 2}]}', 'Duplicate key "a"'],
    ['{"a":"\\ud800"}', /lone surrogate/],
    ['{"\\udc00":1}', /lone surrogate/],
    [`{"a":${list(MAX_ELEMENTS + 1)}}`, "A list has more than 100000 elements"],
    [`[${object(MAX_KEYS + 1)}]`, "An object has more than 10000 members"],
  ])("%.60s is rejected", (json, problem) => expect(findExcess(json, strict)).toMatch(problem));

  it("members that are not requested are not checked", () => {
    expect(findExcess('{"a":1,"a":"\\ud800"}')).toBeUndefined();
    expect(Math.min(object(MAX_KEYS + 1).length, list(MAX_ELEMENTS + 1).length)).toBeGreaterThan(MIN_EXCESS_BYTES);
  });
});
