import { expect, it } from "vitest";
import { membersOf, replaced, textAt } from "./envelope.ts";

const VALUES: readonly unknown[] = [0, -1.5e3, "text", 'a "quoted" one', "back\\slash\\", "}{][", true, null, [], {}];

it.each([undefined, 2])("finds every member (indented by %s)", (indent) => {
  const object = Object.fromEntries(VALUES.map((value, index) => [`m${index}`, { value, list: [value, { value }] }]));
  const bytes = Buffer.from(JSON.stringify({ ...object, last: "é" }, null, indent));
  const members = membersOf(bytes);
  const read = Object.fromEntries([...members].map(([name, span]) => [name, JSON.parse(textAt(bytes, span))]));
  expect(read).toEqual({ ...object, last: "é" });
});

it("finds members of an object inside another one", () => {
  const bytes = Buffer.from('{"id":1,"params":{"arguments":{"name":"no"},"name":"yes"}}');
  const params = membersOf(bytes).get("params");
  const name = membersOf(bytes, params?.from).get("name");
  expect(name && textAt(bytes, name)).toBe('"yes"');
});

it.each([10, 100_000])("replaces the id in an answer of %d bytes and nothing else", (size) => {
  const answer = { jsonrpc: "2.0", result: { id: 5, text: "é".repeat(size) }, id: 7 };
  const bytes = Buffer.from(JSON.stringify(answer));
  const id = membersOf(bytes).get("id");
  const changed = id === undefined ? "" : replaced(bytes, id, '"abc"').toString();
  expect(JSON.parse(changed)).toEqual({ ...answer, id: "abc" });
});
