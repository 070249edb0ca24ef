import { expect, it } from "vitest";
import { lineOfField } from "./json-places.ts";

const TEXT = JSON.stringify(
  { command: "node", args: ["a", 'b"]}'], env: { A: "1", "B C": { secretRef: "x" } }, timeouts: { start_ms: 5 } },
  null,
  2,
);

it.each([
  ["command", '"command"'],
  ["args.1", String.raw`"b\"]}"`],
  ["env.A", '"A"'],
  ["env.B C.secretRef", '"secretRef"'],
  ["timeouts.start_ms", '"start_ms"'],
  ["timeouts.missing", '"timeouts"'],
  ["", "{"],
  ["unknown", "{"],
])("finds the line of %j", (field, word) => {
  expect(TEXT.split("\n")[lineOfField(TEXT, field) - 1]).toContain(word);
});

it("reads a text on one line", () => {
  expect(lineOfField('{"a":[1,{"b":null}],"c":true}', "a.1.b")).toBe(1);
});
