// The headers of the modern era: any text is encoded and decoded unchanged, no other input decodes to it, and no schema makes
// them throw.

import { validateHeaderValue } from "node:http";
import { expect, it } from "vitest";
import {
  decodeHeader,
  encodeHeader,
  headerMismatch,
  headerParams,
  requestHeaders,
} from "../../hub/src/protocol/revisions/headers.ts";
import { fuzz, FUZZ_MS } from "./fuzz.ts";

it("T35 SE-5 any text survives encoding as a header, and decoding is unambiguous", { timeout: FUZZ_MS }, () => {
  const outcomes = fuzz({
    name: "headers",
    corpus: [
      "tool_name",
      "=?base64?dG9vbA==?=",
      "=?base64?4pyT?=",
      " blank ",
      "ä€\u{1f600}",
      "a\tb",
      "=?base64??=",
      "",
    ],
    quickRuns: 15_000,
    check: (input) => {
      const text = input.toString();
      const encoded = encodeHeader(text);
      validateHeaderValue("mcp-name", encoded);
      if (encoded.trim() !== encoded) expect.fail("a stack may trim it");
      if (decodeHeader(encoded) !== text) expect.fail("another text");
      const decoded = decodeHeader(input.toString("latin1"));
      if (decoded === undefined) return "refused";
      if (decodeHeader(encodeHeader(decoded)) !== decoded) expect.fail("two meanings");
      return encoded === text ? "plain" : "encoded";
    },
  });
  expect(new Set(outcomes.keys())).toEqual(new Set(["plain", "encoded", "refused"]));
});

it(
  "T35 T49 SE-5 a tool's schema yields headers or a reason, and a request built from it passes validation",
  { timeout: FUZZ_MS },
  () => {
    const outcomes = fuzz({
      name: "header schema",
      corpus: [
        '{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"}}}',
        '{"properties":{"a":{"properties":{"b":{"type":"boolean","x-mcp-header":"B"}}}}}',
        '{"items":{"x-mcp-header":"No"},"properties":{"x-mcp-header":{"type":"string"}}}',
        '{"region":"eu ä","n":12,"a":{"b":true}}',
      ],
      quickRuns: 5000,
      check: (input) => {
        const schema = parse(input);
        const found = headerParams(schema);
        if ("invalid" in found) return "invalid";
        const params = { name: "ä tool", arguments: { region: "eu ä", n: 12, a: { b: true }, "": " " } };
        const headers = requestHeaders("tools/call", params, found);
        for (const [name, value] of Object.entries(headers)) validateHeaderValue(name, value);
        const mismatch = headerMismatch(headers, "tools/call", params, found);
        if (mismatch !== undefined) expect.fail(mismatch);
        return found.length > 0 ? "headers" : "none";
      },
    });
    expect(new Set(outcomes.keys())).toEqual(new Set(["headers", "none", "invalid"]));
  },
);

function parse(input: Buffer): unknown {
  try {
    return JSON.parse(input.toString());
  } catch {
    return undefined;
  }
}
