import { expect, it } from "vitest";
import { reportText } from "./report.ts";

it("writes one line for each check, and how to repair what is not in order", () => {
  const check = {
    id: "x",
    section: "machine",
    name: "node",
    status: "ok",
    message: "22.1",
    fix: null,
    fixable: false,
  } as const;
  expect(
    reportText("1.2.3", [
      check,
      { ...check, name: "uv", status: "problem", message: "not found", fix: "pip install uv" },
    ]),
  ).toBe("plugboard 1.2.3\nok      machine: node: 22.1\nPROBLEM machine: uv: not found\n        pip install uv");
});
