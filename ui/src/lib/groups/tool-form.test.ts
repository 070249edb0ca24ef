import { describe, expect, it } from "vitest";
import { NumberText, type JsonObject } from "../text/json.ts";
import {
  fieldOf,
  formProblems,
  fromForm,
  patternsFor,
  toForm,
  withMode,
  withSettings,
  type ToolForm,
} from "./tool-form.ts";
import type { ToolSettings } from "./tool-form.ts";

const schema: JsonObject = {
  type: "object",
  properties: {
    a: { type: "number", description: "First" },
    b: { type: "number", default: 2 },
    note: { type: "string" },
  },
  required: ["a"],
};

const withArgument = (form: ToolForm, name: string, change: object): ToolForm => ({
  ...form,
  arguments: form.arguments.map((each) => (each.name === name ? { ...each, ...change } : each)),
});

describe("the settings of a tool in a form", () => {
  it.each<[string, ToolSettings]>([
    ["a name and a description", { as: "add", description: "Adds" }],
    ["approval", { approve: "always" }],
    ["hidden and fixed arguments", { arguments: { b: { const: 10 }, note: { hidden: true } } }],
    ["a value that is null", { arguments: { note: { const: null } } }],
    ["an argument that the tool has not", { arguments: { gone: { const: "x" } } }],
    ["an argument that a pattern hides and this tool shows", { arguments: { note: { hidden: false } } }],
  ])("RG-4 %s stay as they are if nobody changes them", (_, settings) => {
    expect(fromForm(toForm(settings, schema), settings)).toEqual(settings);
  });

  it("nothing set is no settings, and empty texts set nothing", () => {
    const form = toForm({}, schema);
    expect(fromForm(form, {})).toBeUndefined();
    expect(fromForm({ ...form, as: "  ", description: " \n" }, {})).toBeUndefined();
    expect(withSettings({ "git:log": { as: "history" } }, "git:log", undefined)).toEqual({});
  });

  it("an argument that is fixed begins with its default, and needs a value", () => {
    const form = toForm({}, schema);
    const [a, b] = form.arguments;
    expect(withMode(b!, "fixed", schema).value).toBe(2);
    expect(withMode(a!, "fixed", schema).value).toBeUndefined();
    expect([...formProblems(withArgument(form, "a", { mode: "fixed" })).keys()]).toEqual(["arguments.a"]);
    const large = { mode: "fixed", value: new NumberText("9007199254740993") };
    expect([...formProblems(withArgument(form, "a", large)).keys()]).toEqual(["arguments.a"]);
    expect(formProblems(withArgument(form, "a", { mode: "fixed", value: 0 })).size).toBe(0);
  });

  it.each([
    ["tools.web:page.open.as", "as"],
    ["tools.web:page.open.arguments.b", "arguments.b"],
    ["tools.web:page.open.arguments.b.const", "arguments.b"],
    ["tools.web:page.open.arguments.bee", undefined],
    ["tools.web:page.as", undefined],
    [undefined, undefined],
  ])("the problem of %s is shown at %s", (field, expected) => {
    expect(fieldOf({ field, message: "" }, "web:page.open", toForm({}, schema))).toBe(expected);
  });

  it("names the patterns that concern the tool too", () => {
    const settings = { "git:*": { approve: "always" as const }, "git:log": { as: "history" }, "web:*": {} };
    expect(patternsFor(settings, "git", "log")).toEqual(["git:*"]);
  });
});
