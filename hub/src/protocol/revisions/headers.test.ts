// The headers that repeat the body: encoding, required headers, and mismatches.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeHeader, encodeHeader, headerMismatch, headerName, headerParams, requestHeaders } from "./headers.ts";

describe("the value encoding", () => {
  it.each([
    ["echo", "echo"],
    ["a b\tc", "a b\tc"],
    ["~!{}", "~!{}"],
    [42, "42"],
    [-1, "-1"],
    [true, "true"],
    [false, "false"],
    ["", "=?base64??="],
    [" a", "=?base64?IGE=?="],
    ["a ", "=?base64?YSA=?="],
    ["\ta", "=?base64?CWE=?="],
    ["a\nb", "=?base64?YQpi?="],
    ["a\r\nx-evil: 1", "=?base64?YQ0KeC1ldmlsOiAx?="],
    ["é", "=?base64?w6k=?="],
    ["\u{1f600}", "=?base64?8J+YgA==?="],
    ["\u007f", "=?base64?fw==?="],
    ["=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="],
    ["=?BASE64?YQ==?=", "=?BASE64?YQ==?="],
    ["=?base64?", "=?base64?"],
  ])("T35 %j is encoded as %j", (value, header) => {
    expect(encodeHeader(value)).toBe(header);
    expect(decodeHeader(header)).toBe(String(value));
  });

  it("T35 every text survives a round trip through a valid header value", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom(" ", "\t", "a", "=", "?", "=?base64?", "?=") }),
    );
    fc.assert(
      fc.property(text, (value) => {
        const header = encodeHeader(value);
        expect(header).toMatch(/^[\x20-\x7e\t]*$/);
        expect(header).toBe(header.trim());
        expect(decodeHeader(header)).toBe(value);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ["no padding", "=?base64?YQ?="],
    ["foreign characters", "=?base64?Y!Q==?="],
    ["a blank inside", "=?base64?Y Q==?="],
    ["the URL alphabet", "=?base64?8J-YgA==?="],
    ["bits left over", "=?base64?YR==?="],
    ["no UTF-8", "=?base64?/w==?="],
    ["two texts", "=?base64?YQ==YQ==?="],
  ])("T35 a value that is not canonical base64 of UTF-8 is refused: %s", (_, header) => {
    expect(decodeHeader(header)).toBeUndefined();
    expect(headerMismatch({ "mcp-method": "tools/call", "mcp-name": header }, "tools/call", { name: "a" })).toMatch(
      /mcp-name does not match/,
    );
  });

  it("T18 a long value of spaces takes linear time", () => {
    const startedAt = performance.now();
    const header = encodeHeader(`a${" \t".repeat(1 << 20)}`);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(header.startsWith("=?base64?")).toBe(true);
  });
});

describe("Mcp-Name", () => {
  it.each([
    ["tools/call", { name: "a" }, "a"],
    ["prompts/get", { name: "a", uri: "b" }, "a"],
    ["resources/read", { name: "a", uri: "b" }, "b"],
    ["tasks/get", { taskId: "t" }, "t"],
    ["tasks/update", { taskId: "t" }, "t"],
    ["tasks/cancel", { taskId: "t" }, "t"],
    ["tools/list", { name: "a" }, undefined],
    ["tools/call", { name: 7 }, undefined],
    ["tools/call", undefined, undefined],
    ["constructor", { name: "a" }, undefined],
  ])("T35 %s with %j is about %j", (method, params, expected) => {
    expect(headerName(method, params)).toBe(expected);
  });
});

describe("x-mcp-header in a tool's schema", () => {
  const schema = (properties: Record<string, unknown>) => ({ type: "object", properties });
  const region = { type: "string", "x-mcp-header": "Region" };

  it("T35 is found in nested properties", () => {
    const nested = schema({ region, at: schema({ zone: { type: "integer", "x-mcp-header": "Zone" } }), other: {} });
    expect(headerParams(nested)).toEqual([
      { header: "Region", path: ["region"] },
      { header: "Zone", path: ["at", "zone"] },
    ]);
  });

  it.each([
    ["no schema", undefined],
    ["no object", 7],
    ["no properties", {}],
    ["an argument of that name", schema({ "x-mcp-header": { type: "string" } })],
    [
      "such an argument in a list",
      schema({ a: { type: "array", items: schema({ "x-mcp-header": { type: "string" } }) } }),
    ],
  ])("T35 no header is required by %s", (_, given) => {
    expect(headerParams(given)).toEqual([]);
  });

  it.each([
    ["a blank in it", schema({ a: { type: "string", "x-mcp-header": "My Region" } })],
    ["a line break in it", schema({ a: { type: "string", "x-mcp-header": "A\r\nB" } })],
    ["a colon in it", schema({ a: { type: "string", "x-mcp-header": "A:" } })],
    ["nothing in it", schema({ a: { type: "string", "x-mcp-header": "" } })],
    ["no text", schema({ a: { type: "string", "x-mcp-header": 7 } })],
    ["a number's", schema({ a: { type: "number", "x-mcp-header": "A" } })],
    ["an object's", schema({ a: { type: "object", "x-mcp-header": "A" } })],
    ["no type", schema({ a: { "x-mcp-header": "A" } })],
    ["the same name twice", schema({ a: region, b: region })],
    ["the same name in another case", schema({ a: region, b: { type: "string", "x-mcp-header": "REGION" } })],
    ["the whole schema's", { ...schema({}), type: "string", "x-mcp-header": "A" }],
    ["in a list", schema({ a: { type: "array", items: region } })],
    ["in a choice", schema({ a: { anyOf: [{ type: "null" }, region] } })],
    ["in a condition", { ...schema({}), if: schema({ a: region }) }],
    ["in a definition", { ...schema({}), $defs: { region } }],
    ["deep inside a choice", { ...schema({}), oneOf: [schema({ a: schema({ b: region }) })] }],
  ])("T35 a tool is not usable over HTTP if the name has %s", (_, given) => {
    expect(headerParams(given)).toHaveProperty("invalid");
  });

  it("SE-5 the search in a deeply nested schema is bounded", () => {
    let deep: unknown = { type: "string", "x-mcp-header": "Deep" };
    for (let level = 0; level < 5000; level++) deep = level % 2 === 0 ? schema({ a: deep }) : { items: deep };
    expect(headerParams({ ...schema({ a: region }), properties: { a: region, deep } })).toEqual([
      { header: "Region", path: ["a"] },
    ]);
  });
});

describe("headers of a request", () => {
  const params = [
    { header: "Region", path: ["at", "region"] },
    { header: "Count", path: ["count"] },
    { header: "Dry", path: ["dry"] },
  ];
  const call = (args: unknown) => ({ name: "ship", arguments: args });

  it.each([
    ["all there", { at: { region: "eu west" }, count: 3, dry: true }, { region: "eu west", count: "3", dry: "true" }],
    ["what is absent or null has none", { at: { region: null }, count: 0 }, { count: "0" }],
    ["what fits no header has none", { at: { region: ["eu"] }, dry: {} }, {}],
    ["what is inherited is not there", { at: [] }, {}],
    ["no arguments", undefined, {}],
    ["encoded", { at: { region: "Zürich" } }, { region: "=?base64?WsO8cmljaA==?=" }],
  ])("T35 %s", (_, args, expected) => {
    const own = Object.fromEntries(Object.entries(expected).map(([name, value]) => [`mcp-param-${name}`, value]));
    expect(requestHeaders("tools/call", call(args), params)).toEqual({
      "mcp-method": "tools/call",
      "mcp-name": "ship",
      ...own,
    });
  });

  const method = "tools/call";
  const body = call({ at: { region: "eu" }, count: 3 });
  const fitting = { "mcp-method": method, "mcp-name": "ship", "mcp-param-region": "eu", "mcp-param-count": "3" };

  it.each([
    ["all fit", fitting, body, undefined],
    ["the encoded form", { ...fitting, "mcp-name": "=?base64?c2hpcA==?=" }, body, undefined],
    ["an integer written otherwise", { ...fitting, "mcp-param-count": "3.0" }, body, undefined],
    ["a header more than asked for", { ...fitting, "mcp-param-other": "x" }, body, undefined],
    ["no method", { ...fitting, "mcp-method": undefined }, body, "mcp-method is missing"],
    ["another method", { ...fitting, "mcp-method": "tools/list" }, body, "mcp-method does not match"],
    ["another case", { ...fitting, "mcp-method": "Tools/Call" }, body, "mcp-method does not match"],
    ["no name", { ...fitting, "mcp-name": undefined }, body, "mcp-name is missing"],
    ["another name", { ...fitting, "mcp-name": "shop" }, body, "mcp-name does not match"],
    ["an empty name", { ...fitting, "mcp-name": "" }, body, "mcp-name does not match"],
    ["a name twice", { ...fitting, "mcp-name": ["ship", "ship"] }, body, "mcp-name does not match"],
    ["no argument", { ...fitting, "mcp-param-region": undefined }, body, "mcp-param-region is missing"],
    ["another argument", { ...fitting, "mcp-param-region": "us" }, body, "mcp-param-region does not match"],
    ["another number", { ...fitting, "mcp-param-count": "4" }, body, "mcp-param-count does not match"],
    ["a number in hex", { ...fitting, "mcp-param-count": "0x3" }, body, "mcp-param-count does not match"],
    ["a number with blanks", { ...fitting, "mcp-param-count": " 3" }, body, "mcp-param-count does not match"],
    [
      "numbers are equal as numbers, names and texts only as texts",
      { ...fitting, "mcp-name": "1.0" },
      { ...body, name: "1" },
      "mcp-name does not match",
    ],
    [
      "digits in a text",
      { ...fitting, "mcp-param-region": "9007199254740992" },
      call({ at: { region: "9007199254740993" }, count: 3 }),
      "mcp-param-region does not match",
    ],
  ])("T35 %s", (_, headers, given, expected) => {
    const problem = headerMismatch(headers, method, given, params);
    if (expected === undefined) expect(problem).toBeUndefined();
    else expect(problem).toContain(expected);
  });

  it("T35 the headers that we send pass our own check", () => {
    const args = fc.record(
      { at: fc.record({ region: fc.string({ unit: "binary" }) }), count: fc.maxSafeInteger(), dry: fc.boolean() },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), args, (name, given) => {
        const sent = { name, arguments: given };
        expect(headerMismatch(requestHeaders(method, sent, params), method, sent, params)).toBeUndefined();
      }),
    );
  });
});
