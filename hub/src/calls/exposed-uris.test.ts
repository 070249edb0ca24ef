import { expect, it } from "vitest";
import type { Reply } from "../protocol/rpc/jsonrpc.ts";
import { withExposedUris } from "./exposed-uris.ts";

const MAPPING = new Map([
  ["u://1", "plugboard://b/u://1"],
  ["t://{id}", "plugboard://b/t://{id}"],
]);

const reply = (json: string): Reply => ({ ok: true, result: { bytes: Buffer.from(json), value: JSON.parse(json) } });

function exposed(json: string): string {
  const given = withExposedUris(reply(json), MAPPING);
  if (!given.ok) throw new Error("an answer became an error");
  expect(given.result.value).toEqual(JSON.parse(given.result.bytes.toString()));
  return given.result.bytes.toString();
}

it("GR-5 GR-6 touches resource links and embedded resources, and nothing else", () => {
  const result = (at: string) => ({
    content: [
      { type: "text", text: "u://1" },
      { type: "resource_link", uri: at, name: "n" },
      { type: "resource", resource: { uri: at, text: "u://1" }, annotations: {} },
      { type: "future", uri: "u://1" },
      null,
      "odd",
    ],
    structuredContent: { uri: "u://1" },
    _meta: { uri: "u://1" },
  });
  expect(JSON.parse(exposed(JSON.stringify(result("u://1"))))).toEqual(result("plugboard://b/u://1"));
});

it("GR-6 rewrites the results of resources/read and prompts/get", () => {
  expect(exposed('{"contents":[{"uri":"u://1","text":""},7]}')).toBe(
    '{"contents":[{"text":"","uri":"plugboard://b/u://1"},7]}',
  );
  const link = '{"type":"resource_link","uri":"t://1"}';
  const rewritten = '{"type":"resource_link","uri":"plugboard://b/t://1"}';
  expect(exposed(`{"messages":[{"role":"user","content":${link}},{"content":[${link}]},null]}`)).toBe(
    `{"messages":[{"role":"user","content":${rewritten}},{"content":[${rewritten}]},null]}`,
  );
});

it("CL-5 keeps the bytes around a URI: numbers, order, escapes, unknown fields", () => {
  const odd = '"n":12345678901234567890,"x":1.0,"e":1E+2,"z":-0,"s":"\\u2713 \\/"';
  expect(
    exposed(`{${odd},"content":[ {"type":"hologram",${odd}},{"type":"resource_link","uri":"u://1",${odd}} ]}`),
  ).toBe(`{${odd},"content":[{"type":"hologram",${odd}},{"type":"resource_link",${odd},"uri":"plugboard://b/u://1"}]}`);
});

it.each(['{"content":[{"type":"resource_link","uri":"u://2"}]}', '{"content":7}', "[]", "7", '{"contents":[1]}', "{}"])(
  "CL-5 returns the same object if there is nothing to change: %s",
  (json) => {
    const given = reply(json);
    expect(withExposedUris(given, MAPPING)).toBe(given);
  },
);

it("CL-5 costs nothing if no URI is shared", () => {
  const given = reply('{"content":[{"type":"resource_link","uri":"u://1"}]}');
  expect(withExposedUris(given, new Map())).toBe(given);
});
