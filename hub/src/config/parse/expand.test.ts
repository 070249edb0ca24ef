// Expansion of variables.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HubError } from "../../errors.ts";
import { expandList, expandRecord, expandText } from "./expand.ts";

const variables = { A: "one", EMPTY: "", NESTED: "${A}", DOLLAR: "$&$1", lower_1: "low" };

describe("expandText", () => {
  it.each([
    ["${A}", "one"],
    ["x${A}y${A}z", "xoneyonez"],
    ["${lower_1}", "low"],
    ["${EMPTY}", ""],
    ["${EMPTY:-d}", "d"],
    ["${NONE:-d}", "d"],
    ["${NONE:-}", ""],
    ["${A:-d}", "one"],
    ["${NONE:-a b:-c$}", "a b:-c$"],
    ["${NESTED}", "${A}"],
    ["${DOLLAR}", "$&$1"],
    ["$${A}", "$one"],
    ["$A", "$A"],
    ["${}", "${}"],
    ["${1A}", "${1A}"],
    ["${env:A}", "${env:A}"],
    ["${A", "${A"],
    ["${A-d}", "${A-d}"],
    ["${ A }", "${ A }"],
  ])("CF-5 expands %j to %j", (text, expected) => {
    expect(expandText(text, variables, "env.X")).toBe(expected);
  });

  it.each(["NONE", "constructor", "__proto__", "toString"])("CF-5 names the missing variable %s", (name) => {
    const error = caught(() => expandText(`a\${${name}}`, variables, "env.API_KEY"));
    expect(error.toJSON()).toEqual({
      code: "VALIDATION_ERROR",
      kind: "InvalidConfig",
      message: "Missing required credentials",
      field: "env.API_KEY",
      detail: `The variable ${name} is not set`,
      hint: `Set ${name} in the hub's environment, or give a default: \${${name}:-value}`,
    });
  });

  it("an undefined variable counts as missing", () => {
    expect(caught(() => expandText("${U}", { U: undefined }, "url")).field).toBe("url");
  });

  it("CF-5 leaves any text without a reference unchanged", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        fc.pre(!text.includes("${"));
        expect(expandText(text, variables, "x")).toBe(text);
      }),
    );
  });

  it("CF-5 does not expand expanded values again", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (before, value, after) => {
        fc.pre(!before.includes("$") && !after.includes("$"));
        const hostile = `\${B}${value}\${C:-x}`;
        expect(expandText(`${before}\${V}${after}`, { V: hostile, B: "boom" }, "x")).toBe(before + hostile + after);
      }),
    );
  });
});

describe("expandList and expandRecord", () => {
  it("CF-5 expand every item and name the one that failed", () => {
    expect(expandList(["a", "${A}"], variables, "args")).toEqual(["a", "one"]);
    expect(expandRecord({ H: "Bearer ${A}" }, variables, "headers")).toEqual({ H: "Bearer one" });
    expect(caught(() => expandList(["a", "${NONE}"], variables, "args")).field).toBe("args.1");
    expect(caught(() => expandRecord({ H: "${NONE}" }, variables, "headers")).field).toBe("headers.H");
  });
});

function caught(run: () => unknown): HubError {
  try {
    run();
  } catch (error) {
    if (error instanceof HubError) return error;
    throw error;
  }
  throw new Error("Nothing was thrown");
}
