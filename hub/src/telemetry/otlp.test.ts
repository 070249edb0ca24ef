// Both forms of OTLP against what OpenTelemetry's own encoder made of the same two spans (otlp-transformer 0.223).

import { describe, expect, it } from "vitest";
import { encodeJson } from "./otlp-json.ts";
import { encodeProtobuf } from "./otlp-protobuf.ts";
import { KIND, type SpanData } from "./span.ts";

const REFERENCE_PROTOBUF = Buffer.from(
  "CrYCCh8KGwoMc2VydmljZS5uYW1lEgsKCXBsdWdib2FyZBAAEpICChIKCXBsdWdib2FyZBIFMS4yLjMSmQEKEEv5LzV3s02mo86SnQ4ORzYSCADwZ6oL" +
    "qQK3GgNhPWIiCADwZ6oLqQK2Kg90b29scy9jYWxsIGVjaG8wAjnoAyo2/pyXF0GgJVA2/pyXF0ofCg9tY3AubWV0aG9kLm5hbWUSDAoKdG9vbHMvY2Fs" +
    "bEoSCgtzZXJ2ZXIucG9ydBIDGLsDUABgAHAAegYSAm5vGAKFAQEDAAASYAoQS/kvNXezTaajzpKdDg5HNhIIAPBnqgupArgqAsOpMAM5AAAqNv6clxdB" +
    "AMrEcf6clxdKGgoLc2VydmVyLnBvcnQSCxj///////////8BUABgAHAAegIYAIUBAQEAAA==",
  "base64",
);

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPANS: SpanData[] = [
  {
    context: { traceId, spanId: "00f067aa0ba902b7", sampled: true, state: "a=b" },
    parent: { spanId: "00f067aa0ba902b6", isRemote: true },
    name: "tools/call echo",
    kind: KIND.server,
    start: 1_700_000_000_000_001_000n,
    end: 1_700_000_000_002_500_000n,
    attributes: { "mcp.method.name": "tools/call", "gen_ai.tool.name": undefined, "server.port": 443 },
    failed: true,
    message: "no",
  },
  {
    context: { traceId, spanId: "00f067aa0ba902b8", sampled: true },
    parent: undefined,
    name: "é",
    kind: KIND.client,
    start: 1_700_000_000_000_000_000n,
    end: 1_700_000_001_000_000_000n,
    attributes: { "server.port": -1 },
    failed: false,
  },
];
const ORIGIN = { resource: { "service.name": "plugboard" }, scope: { name: "plugboard", version: "1.2.3" } };

/** Where a field of a message is a message itself, by the way to it. */
const MESSAGES = new Set(["1", "1.1", "1.1.1", "1.1.1.2", "1.2", "1.2.1", "1.2.2", "1.2.2.9", "1.2.2.9.2", "1.2.2.15"]);

/** Every field with the way to it. Zeros and empty messages mean the same as nothing, and are left out. */
function fieldsOf(bytes: Buffer, way = ""): string[] {
  const fields: string[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => bytes.subarray(at, (at += length));
  while (at < bytes.length) {
    const tag = Number(varint());
    const path = `${way}${tag >> 3}`;
    const wire = tag & 7;
    const value = wire === 0 ? varint() : take(wire === 1 ? 8 : wire === 5 ? 4 : Number(varint()));
    if (typeof value === "bigint") fields.push(...(value === 0n ? [] : [`${path} = ${value}`]));
    else if (MESSAGES.has(path)) fields.push(...fieldsOf(value, `${path}.`));
    else fields.push(`${path} (${wire}) = ${value.toString("hex")}`);
  }
  return fields;
}

describe("OTLP", () => {
  it("MG-3 in protobuf has every field of the reference, and no other", () => {
    const fields = fieldsOf(encodeProtobuf(SPANS, ORIGIN));
    expect(fields.toSorted()).toEqual(fieldsOf(REFERENCE_PROTOBUF).toSorted());
    expect(fields.length).toBeGreaterThan(25);
  });

  it("MG-3 in JSON says the same", () => {
    expect(JSON.parse(encodeJson(SPANS, ORIGIN).toString())).toEqual({
      resourceSpans: [
        {
          resource: { attributes: [{ key: "service.name", value: { stringValue: "plugboard" } }] },
          scopeSpans: [
            {
              scope: { name: "plugboard", version: "1.2.3" },
              spans: [
                {
                  traceId,
                  spanId: "00f067aa0ba902b7",
                  parentSpanId: "00f067aa0ba902b6",
                  traceState: "a=b",
                  name: "tools/call echo",
                  kind: 2,
                  startTimeUnixNano: "1700000000000001000",
                  endTimeUnixNano: "1700000000002500000",
                  attributes: [
                    { key: "mcp.method.name", value: { stringValue: "tools/call" } },
                    { key: "server.port", value: { intValue: "443" } },
                  ],
                  status: { code: 2, message: "no" },
                  flags: 769,
                },
                {
                  traceId,
                  spanId: "00f067aa0ba902b8",
                  name: "é",
                  kind: 3,
                  startTimeUnixNano: "1700000000000000000",
                  endTimeUnixNano: "1700000001000000000",
                  attributes: [{ key: "server.port", value: { intValue: "-1" } }],
                  status: { code: 0 },
                  flags: 257,
                },
              ],
            },
          ],
        },
      ],
    });
  });
});
