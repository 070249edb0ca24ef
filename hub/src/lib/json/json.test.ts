// JSON as bytes, compared with JSON.parse: what is found, and what an edit changes.

import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { editObject, isObject, membersOf, onOneLine } from "./json.ts";

/** A member as raw text, key and value. */
interface Written {
  readonly key: string;
  readonly keyText: string;
  readonly valueText: string;
}

const blank = fc.string({ unit: fc.constantFrom(" ", "\t", "\n", "\r"), maxLength: 3 });

const key = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom("a", "b", "c", "_meta", "name", "") },
  { weight: 2, arbitrary: fc.constantFrom("__proto__", "constructor", "é", "日本", "\u{1f600}", '"', "\\", "\n", "1") },
  { weight: 3, arbitrary: fc.string({ unit: "binary", maxLength: 6 }) },
);

const valueText = fc.oneof(
  fc.json({ maxDepth: 4 }),
  // Values that parsing and serializing would change.
  fc.constantFrom(
    "1.0",
    "-0",
    "1E+2",
    "12345678901234567890",
    "0.1e-7",
    '"\\u00e9\\/\\ud83d\\ude00"',
    '"\\ud800"',
    '""',
  ),
  fc.constantFrom('"a\\"}]{["', '"\\\\"', '"\\\\\\""', "[ 1 ,\n2\t]", '{"a" : {"b":[{}, []]}}', "true", "null"),
);

const written: fc.Arbitrary<Written> = fc
  .record({ key, valueText, escaped: fc.boolean() })
  .map(({ key: name, valueText: value, escaped }) => ({
    key: name,
    keyText: escaped ? escapeAll(name) : JSON.stringify(name),
    valueText: value,
  }));

/** The same text, every character as \uXXXX. */
function escapeAll(text: string): string {
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at).toString(16).padStart(4, "0"));
  return `"${units.map((unit) => `\\u${unit}`).join("")}"`;
}

/** An object with blanks wherever JSON allows them. */
const objectText = fc
  .record({ members: fc.array(written, { maxLength: 6 }), blanks: fc.array(blank, { minLength: 30, maxLength: 30 }) })
  .map(({ members, blanks }) => {
    let next = 0;
    const gap = () => blanks[next++] ?? "";
    const inner = members.map(({ keyText, valueText: value }) => `${gap()}${keyText}${gap()}:${gap()}${value}${gap()}`);
    return { members, text: `${gap()}{${inner.length === 0 ? gap() : inner.join(",")}}${gap()}` };
  });

const parse = (bytes: Buffer): unknown => JSON.parse(bytes.toString());

function parsedObject(text: string) {
  const value: unknown = JSON.parse(text);
  return isObject(value) ? value : {};
}

function valueTexts(bytes: Buffer): string[] | undefined {
  return membersOf(bytes)?.map(({ keyStart, valueEnd }) => bytes.toString("utf8", keyStart, valueEnd));
}

describe("membersOf", () => {
  it("CL-5 finds every member with the exact bytes of its value, with any blanks and escapes", () => {
    fc.assert(
      fc.property(objectText, ({ members, text }) => {
        const bytes = Buffer.from(text);
        const found = membersOf(bytes);
        expect(found?.map((member) => member.key)).toEqual(members.map((member) => JSON.parse(member.keyText)));
        expect(found?.map(({ valueStart, valueEnd }) => bytes.toString("utf8", valueStart, valueEnd))).toEqual(
          members.map((member) => member.valueText),
        );
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ["", undefined],
    ["  \n", undefined],
    ["[]", undefined],
    ["42", undefined],
    ["null", undefined],
    ['"{}"', undefined],
    ["{", undefined],
    ["{}", []],
    [" {\n} ", []],
    ['{"a"', undefined],
    ['{"a":', undefined],
    ['{"a":1', undefined],
    ['{"a":"1', undefined],
    ['{"a":"1\\"}', undefined],
    ['{"a":[1}', undefined],
    ['{"a":1,', undefined],
    ['{"a":1,}', undefined],
    ['{"a":1 "b":2}', undefined],
    ["{a:1}", undefined],
    ['{"a":1,"a":2}', ["a", "a"]],
    ['{"\\u0061":1,"a":2}', ["a", "a"]],
    ['{"a":"}","b":"{","c":"\\\\"}', ["a", "b", "c"]],
  ])("T36 the members of %j are %j", (text, keys) => {
    expect(membersOf(Buffer.from(text))?.map((member) => member.key)).toEqual(keys);
  });

  const nested = (depth: number, [open, close]: readonly [string, string]) =>
    `{"a":${open.repeat(depth - 1)}1${close.repeat(depth - 1)}}`;

  it.each([
    ["arrays", ["[", "]"]],
    ["objects", ['{"b":', "}"]],
  ] as const)("T20 nesting is accepted up to the limit: %s", (_, brackets) => {
    for (const bound of [1, 2, 64, 256]) {
      expect(membersOf(Buffer.from(nested(bound, brackets)), bound)).toHaveLength(1);
      expect(membersOf(Buffer.from(nested(bound + 1, brackets)), bound)).toBeUndefined();
    }
  });

  it("T20 brackets inside strings, and siblings, do not count as depth", () => {
    expect(membersOf(Buffer.from(`{"a":"${"[".repeat(1000)}","b":"${'{\\"'.repeat(1000)}"}`), 1)).toHaveLength(2);
    expect(membersOf(Buffer.from(`{"a":[${"[],".repeat(1000)}[]]}`), 3)).toHaveLength(1);
  });

  it("T20 never throws, hangs or returns a span outside the bytes", () => {
    const structural = fc.string({
      unit: fc.constantFrom("{", "}", "[", "]", '"', ":", ",", "\\", " ", "\n", "a", "1", "-"),
      maxLength: 60,
    });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 80 }),
          structural,
          structural.map((text) => `{"${text}`),
        ),
        (input) => {
          const bytes = Buffer.from(input);
          let end = 0;
          for (const { keyStart, valueStart, valueEnd } of membersOf(bytes) ?? []) {
            expect(keyStart).toBeGreaterThanOrEqual(end);
            expect(valueStart).toBeGreaterThan(keyStart);
            expect(valueEnd).toBeGreaterThan(valueStart);
            expect(valueEnd).toBeLessThan(bytes.length);
            end = valueEnd;
          }
          // The scan may accept more than JSON, but must find every valid object.
          const value = jsonOf(bytes);
          if (isObject(value)) {
            expect(new Set(membersOf(bytes)?.map((member) => member.key))).toEqual(new Set(Object.keys(value)));
          }
        },
      ),
      { numRuns: 5000 },
    );
  });

  it.each([
    ["escaped quotes", `{"a":"${'\\"'.repeat(1 << 20)}"}`],
    ["backslashes", `{"a":"${"\\\\".repeat(1 << 20)}"}`],
    ["an open string of backslashes", `{"a":"${"\\".repeat(1 << 21)}`],
    ["blanks", `{"a":${" ".repeat(1 << 21)}1${" ".repeat(1 << 21)}}`],
    ["open brackets", `{"a":${"[".repeat(1 << 21)}`],
    ["members", `{${'"a":1,'.repeat(1 << 18)}"b":2}`],
  ])("T18 the time is linear: megabytes of %s", (_, text) => {
    const bytes = Buffer.from(text);
    const startedAt = performance.now();
    membersOf(bytes);
    // About 20 ms; a quadratic algorithm would take hours.
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});

function jsonOf(bytes: Buffer): unknown {
  try {
    return parse(bytes);
  } catch {
    return undefined;
  }
}

describe("editObject", () => {
  const changes = fc.dictionary(key, fc.option(fc.json({ maxDepth: 2 }), { nil: undefined }), { maxKeys: 4 });

  it("CL-5 an edit followed by a parse equals a parse followed by an edit", () => {
    fc.assert(
      fc.property(objectText, changes, ({ text }, edits) => {
        const expected = new Map(Object.entries(parsedObject(text)));
        for (const [name, json] of Object.entries(edits)) {
          if (json === undefined) expected.delete(name);
          else expected.set(name, JSON.parse(json));
        }
        const edited = parse(editObject(Buffer.from(text), edits));
        expect(isDeepStrictEqual(edited, Object.fromEntries(expected))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("CL-5 other members keep their bytes and their order", () => {
    fc.assert(
      fc.property(objectText, changes, ({ text }, edits) => {
        const bytes = Buffer.from(text);
        const before = membersOf(bytes) ?? [];
        const kept = before
          .filter((member) => !Object.hasOwn(edits, member.key))
          .map(({ keyStart, valueEnd }) => bytes.toString("utf8", keyStart, valueEnd));
        expect(valueTexts(editObject(bytes, edits))?.slice(0, kept.length)).toEqual(kept);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['{"a":1.0,"b":2}', { b: "3" }, '{"a":1.0,"b":3}'],
    ['{"n":12345678901234567890,"a":1}', { a: undefined }, '{"n":12345678901234567890}'],
    ['{"a":"\\u00e9\\/"}', { b: '"x"' }, '{"a":"\\u00e9\\/","b":"x"}'],
    ['{ "z" : 1 ,\n "a" : [ 1, 2 ] }', { z: "0" }, '{"a" : [ 1, 2 ],"z":0}'],
    ['{"\\u0061":1,"b":2}', { a: "9" }, '{"b":2,"a":9}'],
    ['{"a":1,"b":2,"a":3}', { a: "9" }, '{"b":2,"a":9}'],
    ['{"a":1,"b":2,"b":3}', { a: "9" }, '{"b":2,"b":3,"a":9}'],
    ['{"a":{"a":1}}', { b: "2" }, '{"a":{"a":1},"b":2}'],
    ['{"a":1}', { a: undefined }, "{}"],
    ["{}", { a: "1" }, '{"a":1}'],
    ["{}", {}, "{}"],
    ['{"__proto__":1,"a":2}', { a: "3" }, '{"__proto__":1,"a":3}'],
    ['{"toString":1}', { a: "3" }, '{"toString":1,"a":3}'],
    ["{}", { 'q"\\': "1" }, '{"q\\"\\\\":1}'],
  ])("%s with %j is %s", (text, edits, expected) => {
    expect(editObject(Buffer.from(text), edits).toString()).toBe(expected);
  });

  it("accepts bytes and text, and does not change its input", () => {
    const bytes = Buffer.from('{"a":1,"b":2}');
    expect(editObject(bytes, { a: Buffer.from('"ü"') }).toString()).toBe('{"b":2,"a":"ü"}');
    expect(bytes.toString()).toBe('{"a":1,"b":2}');
  });
});

describe("onOneLine", () => {
  it("CL-1 gives equal JSON without line breaks", () => {
    fc.assert(
      fc.property(objectText, ({ text }) => {
        const bytes = Buffer.from(text);
        const line = onOneLine(bytes);
        expect(line.includes("\n") || line.includes("\r")).toBe(false);
        expect(line).toHaveLength(bytes.length);
        expect(isDeepStrictEqual(parse(line), parse(bytes))).toBe(true);
        expect(bytes.toString()).toBe(text);
      }),
    );
  });

  it("returns its input if there is nothing to do", () => {
    const bytes = Buffer.from('{"a":"\\n\\r"}');
    expect(onOneLine(bytes)).toBe(bytes);
  });
});
