import { expect, it } from "vitest";
import { readField } from "./form-field.ts";

const titled = {
  type: "string",
  oneOf: [
    { const: "r", title: "Red" },
    { const: "b", title: "Blue" },
  ],
  default: "r",
};

it.each([
  [{ type: "string" }, "x", { given: "x" }],
  [{ type: "string", minLength: 3 }, "ab", { problem: "Enter at least 3 characters." }],
  [{ type: "string", maxLength: 1 }, "ab", { problem: "Enter at most 1 characters." }],
  [{ type: "string", maxLength: 1 }, "😀", { given: "😀" }],
  [{ type: "string", format: "email" }, "a@b", { given: "a@b" }],
  [{ type: "string", format: "email" }, "ab", { problem: "Enter an email address." }],
  [{ type: "string", format: "date" }, "2026-13-01", { problem: "Enter a date as 2026-12-31." }],
  [{ type: "string", format: "of-tomorrow" }, "x", { given: "x" }],
  [{ type: "boolean" }, "YES", { given: true }],
  [{ type: "boolean" }, "maybe", { problem: "Answer y or n." }],
  [{ type: "integer", minimum: 1 }, "1.5", { problem: "Enter a whole number of at least 1." }],
  [{ type: "number", minimum: 0, maximum: 1 }, "2", { problem: "Enter a number from 0 to 1." }],
  [{ type: "number" }, "1e2", { given: 100 }],
  [{ enum: ["a", "b"], enumNames: ["Apple", "Banana"] }, "apple", { given: "a" }],
  [{ enum: ["a", "b"] }, "c", { problem: "Enter one of a, b." }],
  [titled, "BLUE", { given: "b" }],
  [titled, "", { given: "r" }],
  [{ type: "array", items: { enum: ["a", "b"] } }, "b, a", { given: ["b", "a"] }],
  [{ type: "array", items: { enum: ["a", "b"] }, minItems: 2 }, "b", { problem: "Enter at least 2." }],
  [{ type: "array", items: { anyOf: [{ const: "f", title: "Fish" }] } }, "fish", { given: ["f"] }],
])("a field %j answered with %j", (rule, answer, read) => {
  expect(readField({ key: "k", rule, required: true }).read(answer)).toEqual(read);
});

it("a required field needs a value, an optional one may be empty", () => {
  const field = { key: "k", rule: { type: "string", title: "Name" } };
  expect(readField({ ...field, required: true }).read("")).toEqual({ problem: "Name is required." });
  expect(readField({ ...field, required: false }).read("")).toEqual({ given: undefined });
});

it("the prompt has the title of the field, its accepted values and its default", () => {
  const question = (rule: object, required = false) => readField({ key: "k", rule: { ...rule }, required }).question;
  expect(question({ type: "string" }, true)).toBe("k");
  expect(question(titled)).toBe("k, one of Red, Blue [Red]");
  expect(question({ type: "boolean", title: "Agree", default: false })).toBe("Agree, y or n [n]");
  expect(question({ type: "integer", description: "How\nmany", minimum: 1 })).toBe(
    "k (How many), integer of at least 1 [optional]",
  );
});
