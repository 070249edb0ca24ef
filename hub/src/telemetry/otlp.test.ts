// Compares the encoder with the output of OpenTelemetry's own for the same two spans (otlp-transformer 0.223).

import { describe, expect, it } from "vitest";
import { encodeJson } from "./otlp-json.ts";
import { KIND, type SpanData } from "./span.ts";

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

describe("OTLP", () => {
  it("MG-3 spans are encoded like by the SDK", () => {
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
