import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isLongRun, scaled, testSeed } from "../../../test/support/scale.ts";
import { diffTools } from "../catalog/tool-diff.ts";
import { isObject, type JsonObject } from "../lib/json/json.ts";
import { comparePins, Digests, pinAll } from "./pins.ts";

const digests = new Digests();
const pin = (tools: readonly JsonObject[]) => pinAll(tools, { by: "me", at: 1, digests });
const changesOf = (before: readonly JsonObject[], after: readonly JsonObject[]) =>
  Object.fromEntries(comparePins(pin(before), after, digests));

const tool: JsonObject = {
  name: "add",
  title: "Add",
  description: "Adds",
  inputSchema: { type: "object", properties: { a: { type: "number", description: "The first" } } },
  outputSchema: { type: "object", properties: { sum: { type: "number" } } },
  annotations: { readOnlyHint: true },
  _meta: { "example.com/x": [1, { y: null }] },
};

describe("SE-6 RG-2 T27 pins", () => {
  it.each<[string, object]>([
    ["a byte of the title", { title: "Adc" }],
    ["a byte of the description", { description: "Adds " }],
    ["an invisible character", { description: "Adds\u200b" }],
    [
      "a byte of the input schema",
      { inputSchema: { ...(tool["inputSchema"] as object), additionalProperties: false } },
    ],
    [
      "the description of an argument",
      { inputSchema: { type: "object", properties: { a: { type: "number", description: "the first" } } } },
    ],
    ["a byte of the output schema", { outputSchema: { type: "object", properties: { sun: { type: "number" } } } }],
    ["an annotation", { annotations: { readOnlyHint: false } }],
    ["one more annotation", { annotations: { readOnlyHint: true, destructiveHint: true } }],
    ["a value in _meta", { _meta: { "example.com/x": [1, { y: 0 }] } }],
    ["the order of a list", { _meta: { "example.com/x": [{ y: null }, 1] } }],
    ["a member that nobody knows", { later: 1 }],
    ["a missing member", { title: undefined }],
  ])("%s is a change", (_, change) => {
    expect(changesOf([tool], [{ ...tool, ...change }])).toEqual({ add: "changed" });
  });

  it("the order of keys, of tools, and a second tool of the same name are no change", () => {
    const other = { ...tool, name: "other" };
    expect(changesOf([tool, other], [reversed(other), reversed(tool), { ...tool, description: "Second" }])).toEqual({});
  });

  it("a new tool is told from a changed one, and a missing one is no reason to withhold anything", () => {
    expect(changesOf([tool], [{ ...tool, name: "new" }])).toEqual({ new: "added" });
    expect(changesOf([tool], [])).toEqual({});
  });

  const runs = scaled(300, 100_000);
  it(
    `${runs} random catalogues with other orders of keys raise no alarm, and each random change is found`,
    { timeout: 900_000 },
    () => {
      const startedAt = performance.now();
      fc.assert(
        fc.property(catalogues, fc.nat(), fc.jsonValue({ maxDepth: 2 }), (tools, index, value) => {
          const again = tools.map(reversed).toReversed();
          expect(changesOf(tools, again)).toEqual({});
          expect(diffTools(tools, again)).toEqual([]);
          const chosen = tools[index % tools.length];
          if (chosen === undefined || JSON.stringify(chosen["_meta"]) === JSON.stringify(value)) return;
          const changed = { ...chosen, _meta: value };
          const isSame = JSON.stringify(sorted(changed)) === JSON.stringify(sorted(chosen));
          const after = tools.map((each) => (each === chosen ? changed : each));
          expect(changesOf(tools, after)).toEqual(isSame ? {} : { [chosen.name]: "changed" });
          expect(diffTools(tools, after)).toHaveLength(isSame ? 0 : 1);
        }),
        { numRuns: runs, seed: testSeed() },
      );
      // eslint-disable-next-line no-console -- a figure of the long lane
      if (isLongRun) console.log(`${runs} random catalogues in ${Math.round(performance.now() - startedAt)} ms`);
    },
  );
});

const texts = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.constantFrom("\ud800", "__proto__", "\u202e", ""),
);
const json = fc.jsonValue({ maxDepth: 3, stringUnit: "binary" });
const definitions = fc.record(
  {
    name: fc.string({ minLength: 1, maxLength: 20 }),
    description: texts,
    inputSchema: fc.dictionary(texts, json, { maxKeys: 5 }),
    outputSchema: fc.dictionary(texts, json, { maxKeys: 3 }),
    annotations: fc.dictionary(texts, fc.boolean(), { maxKeys: 3 }),
    _meta: json,
  },
  { requiredKeys: ["name"] },
);
const catalogues = fc.uniqueArray(definitions, { maxLength: 6, selector: ({ name }) => name });

/** The same JSON with all keys in the other order. */
function reversed(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, member]) => [key, turn(member)]),
  );
}

function turn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turn);
  return isObject(value) ? reversed(value) : value;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value ?? null;
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => [key, sorted(member)]);
  return { members };
}
