import { describe, expect, it } from "vitest";
import type { Raw } from "../rpc/jsonrpc.ts";
import { promptResultFor, toolFor, toolFormOf, toolResultFor } from "./tool-era.ts";

const read = (json: string): Raw => ({ bytes: Buffer.from(json), value: JSON.parse(json) });

/** The bytes; checks that the value is the same. */
function shown({ bytes, value }: Raw): string {
  expect(value).toEqual(JSON.parse(bytes.toString()));
  return bytes.toString();
}

const [MODERN, NEWEST, FIRST, OLD, OLDEST] = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const LIST = { type: "array", items: { type: "number" } };

describe("definitions", () => {
  const tool = {
    name: "t",
    title: "T",
    inputSchema: { type: "object" },
    outputSchema: { type: "object" },
    annotations: { readOnlyHint: true },
    icons: [{ src: "data:," }],
    _meta: { ui: { resourceUri: "ui://t" } },
    later: 1,
  };

  it.each([MODERN, NEWEST, FIRST].map((version) => [version]))("CL-5 are passed to %s unchanged", (version) => {
    expect(toolFor(tool, toolFormOf(version ?? ""))).toBe(tool);
  });

  it("GR-5 lose `execution` for modern clients only", () => {
    const withTasks = { ...tool, execution: { taskSupport: "optional" } };
    expect(toolFor(withTasks, "modern")).toEqual(tool);
    expect(toolFor(withTasks, "structured")).toBe(withTasks);
  });

  it.each([[LIST], [true], [{}], [{ oneOf: [{ type: "object" }] }]])(
    "GR-5 an output schema %j is wrapped for legacy clients",
    (outputSchema) => {
      expect(toolFor({ ...tool, outputSchema }, "structured")).toEqual({
        ...tool,
        outputSchema: {
          type: "object",
          properties: { result: outputSchema === true ? {} : outputSchema },
          required: ["result"],
        },
      });
      const modern = { ...tool, outputSchema };
      expect(toolFor(modern, "modern")).toBe(modern);
    },
  );

  it("GR-5 lose their output schema for revisions without structured results", () => {
    const { outputSchema: _, ...rest } = tool;
    expect(toolFor(tool, toolFormOf(OLD ?? ""))).toEqual(rest);
    expect(toolFor(rest, "plain")).toBe(rest);
  });
});

describe("results of tools/call", () => {
  const odd = '"content":[{"type":"hologram","n":12345678901234567890,"x":1.0}],"later":1E+2';

  it.each([
    [MODERN, `{${odd},"structuredContent":[1.0]}`],
    [MODERN, '{"content":[{"type":"resource_link","uri":"u:1","name":"n"}]}'],
    [NEWEST, `{${odd},"structuredContent":{"n":0.10}}`],
    [FIRST, '{"content":[{"type":"resource_link","uri":"u:1","name":"n"}]}'],
    [OLD, `{${odd}}`],
    [OLDEST, '{"content":7}'],
    [NEWEST, "7"],
  ])("CL-5 are the same object for %s: %s", (version, json) => {
    const result = read(json);
    expect(toolResultFor(result, version ?? "", {})).toBe(result);
  });

  it.each([["[1.0,2]"], ["null"], ['"text"'], ["7.50"]])(
    "GR-5 structured content %s is wrapped for legacy clients, and added as text",
    (json) => {
      const result = read(`{"content":[],"structuredContent":${json},"n":1.0}`);
      const text = JSON.stringify({ type: "text", text: JSON.stringify(JSON.parse(json)) });
      expect(shown(toolResultFor(result, NEWEST ?? "", { outputSchema: LIST }))).toBe(
        `{"n":1.0,"structuredContent":{"result":${json}},"content":[${text}]}`,
      );
    },
  );

  it("GR-5 an object is wrapped too if its schema was", () => {
    const result = read('{"content":[{"type":"text","text":"a"}],"structuredContent":{"a":1.0}}');
    expect(shown(toolResultFor(result, FIRST ?? "", { outputSchema: { oneOf: [] } }))).toBe(
      '{"content":[{"type":"text","text":"a"}],"structuredContent":{"result":{"a":1.0}}}',
    );
  });

  it("GR-5 other members keep their bytes when text is added", () => {
    const result = read(`{${odd},"structuredContent":[]}`);
    expect(shown(toolResultFor(result, NEWEST ?? "", {}))).toBe(
      '{"later":1E+2,"structuredContent":{"result":[]},"content":[{"type":"hologram","n":12345678901234567890,"x":1.0},{"type":"text","text":"[]"}]}',
    );
  });

  it.each([OLD, OLDEST].map((version) => [version]))(
    "GR-5 %s gets no structured content, and links as text",
    (version) => {
      const link = '{"type":"resource_link","uri":"u:1","name":"n","description":"d","annotations":{"priority":1}}';
      const result = read(`{"content":[${link},{"type":"text","text":"\\u2713"}],"structuredContent":{"a":1}}`);
      expect(shown(toolResultFor(result, version ?? "", {}))).toBe(
        '{"content":[{"type":"text","text":"n: d (u:1)","annotations":{"priority":1}},{"type":"text","text":"\\u2713"}]}',
      );
      expect(shown(toolResultFor(read('{"structuredContent":{"a":1}}'), version ?? "", {}))).toBe(
        '{"content":[{"type":"text","text":"{\\"a\\":1}"}]}',
      );
    },
  );
});

describe("results without content", () => {
  const block = (text: string) => JSON.stringify([{ type: "text", text }]);

  it.each([
    ['{"toolResult":"done"}', `{"toolResult":"done","content":${block("done")}}`],
    ['{"toolResult":[1],"_meta":{}}', `{"toolResult":[1],"_meta":{},"content":${block("[1]")}}`],
    ['{"content":null,"toolResult":7}', `{"toolResult":7,"content":${block("7")}}`],
    ['{"toolResult":{"a":1}}', `{"toolResult":{"a":1},"structuredContent":{"a":1},"content":${block('{"a":1}')}}`],
    ['{"structuredContent":{"a":1.0}}', `{"structuredContent":{"a":1.0},"content":${block('{"a":1}')}}`],
    ["{}", '{"content":[]}'],
    ['{"resultType":"input_required","requestState":"s"}', undefined],
    ['{"task":{"taskId":"1"}}', undefined],
    ['{"content":[],"toolResult":1}', undefined],
  ])("%s", (given, expected = given) => {
    for (const version of [MODERN, NEWEST]) expect(shown(toolResultFor(read(given), version ?? "", {}))).toBe(expected);
    expect(JSON.parse(shown(toolResultFor(read(given), OLD ?? "", {})))).not.toHaveProperty("structuredContent");
  });
});

describe("results of prompts/get", () => {
  const prompt = read(
    '{"messages":[{"role":"user","content":{"type":"resource_link","uri":"u:1","name":"n"}},{"role":"user","content":{"type":"x"}}]}',
  );

  it("CL-5 GR-5 are the same object, except for links in the oldest revisions", () => {
    for (const version of [MODERN, NEWEST, FIRST]) expect(promptResultFor(prompt, version ?? "")).toBe(prompt);
    expect(shown(promptResultFor(prompt, OLD ?? ""))).toBe(
      '{"messages":[{"role":"user","content":{"type":"text","text":"n (u:1)"}},{"role":"user","content":{"type":"x"}}]}',
    );
  });
});
