import { expect, it } from "vitest";
import { shownKind } from "../input/kind.ts";
import { signature } from "../../search/signature.ts";
import { approximate, tokensOf } from "./tokens.ts";

const object = (properties: object, required: string[] = []) => ({ type: "object", properties, required });

it.each([
  ["no arguments", object({}), "f()"],
  ["no schema at all", null, "f()"],
  ["two numbers", object({ a: { type: "number" }, b: { type: "number" } }, ["a", "b"]), "f(a: number, b: number)"],
  ["what is required stands first", object({ a: { type: "string" }, b: {} }, ["b"]), "f(b: any, a?: string)"],
  ["a few choices", object({ a: { enum: ["x", 1] } }, ["a"]), 'f(a: "x" | 1)'],
  ["many choices", object({ a: { enum: [1, 2, 3, 4, 5] } }, ["a"]), "f(a: 1 | 2 | 3 | 4 | …)"],
  ["lists", object({ a: { type: "array", items: { type: "string" } } }, ["a"]), "f(a: string[])"],
  [
    "lists of several types",
    object({ a: { type: "array", items: { type: ["string", "null"] } } }, ["a"]),
    "f(a: (string | null)[])",
  ],
  ["alternatives", object({ a: { anyOf: [{ type: "string" }, { type: "null" }] } }, ["a"]), "f(a: string | null)"],
  ["a name that would move the cursor", object({ "a\u001b[2J": { type: "string" } }), "f(a?: string)"],
  ["rubbish", { properties: "x", required: 7 }, "f()"],
])("a signature: %s", (_, schema, shown) => {
  expect(signature("f", schema)).toBe(shown);
});

it("a long signature ends in an ellipsis", () => {
  const schema = object({ first: { type: "string" }, second: { type: "string" }, third: { type: "string" } }, [
    "first",
  ]);
  expect(signature("tool", schema, 30)).toBe("tool(first: string, …)");
  expect(signature("tool", schema, 10)).toBe("tool(…)");
});

it("token counts are marked as estimates", () => {
  expect([9, 990, 1240, 11_240].map(approximate)).toEqual(["≈10", "≈990", "≈1.2k", "≈11k"]);
  expect(tokensOf([])).toBe(0);
  expect(tokensOf([{ name: "a", description: "word ".repeat(1000), input_schema: {} }])).toBeGreaterThan(1000);
});

it.each([
  ["npx", "npx", "npx"],
  ["binary", "/usr/bin/node", "node"],
  ["binary", String.raw`C:\Program Files\nodejs\node.exe`, "node"],
  ["binary", "python3.12", "python"],
  ["binary", "./bin/server", "program"],
  ["binary", "nodemon-server", "program"],
  ["http", "http", "http"],
])("kind %s with the command %s is shown as %s", (kind, command, shown) => {
  expect(shownKind(kind, command)).toBe(shown);
});
