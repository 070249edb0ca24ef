import { describe, expect, it } from "vitest";
import { rawParams } from "../protocol/rpc/jsonrpc.ts";
import { incomingContext, newSpanId, newTraceId, parseTraceparent, toMeta } from "./trace-context.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";
const PARENT = `00-${TRACE}-${SPAN}-01`;

describe("traceparent", () => {
  it.each([
    [PARENT, { traceId: TRACE, spanId: SPAN, sampled: true }],
    [`00-${TRACE}-${SPAN}-00`, { traceId: TRACE, spanId: SPAN, sampled: false }],
    [`00-${TRACE}-${SPAN}-03`, { traceId: TRACE, spanId: SPAN, sampled: true }],
    [` ${PARENT} `, { traceId: TRACE, spanId: SPAN, sampled: true }],
    [`cc-${TRACE}-${SPAN}-01-what-comes-later`, { traceId: TRACE, spanId: SPAN, sampled: true }],
    [`${PARENT}-more`, undefined],
    [`ff-${TRACE}-${SPAN}-01`, undefined],
    [`00-${"0".repeat(32)}-${SPAN}-01`, undefined],
    [`00-${TRACE}-${"0".repeat(16)}-01`, undefined],
    [PARENT.toUpperCase(), undefined],
    [`00-${TRACE}-${SPAN}-01\n`.repeat(2), undefined],
    ["", undefined],
    [7, undefined],
    [[PARENT], undefined],
  ])("MG-3 %j", (text, expected) => expect(parseTraceparent(text)).toEqual(expected));

  it("MG-3 is formatted as it was parsed", () => {
    const context = { traceId: newTraceId(), spanId: newSpanId(), sampled: true };
    expect(parseTraceparent(toMeta(context, undefined)["traceparent"])).toEqual(context);
  });
});

describe("the trace context of a request", () => {
  const asked = (meta: object | undefined, headers: Record<string, string> = {}) =>
    incomingContext({
      method: "tools/call",
      params: rawParams(meta === undefined ? {} : { _meta: meta }),
      server: "it",
      arrival: { headers },
    });
  const other = `00-${TRACE}-${"1".repeat(16)}-00`;

  it("MG-3 is taken from the message, then from the headers", () => {
    expect(asked({ traceparent: PARENT, tracestate: "a=1" }, { traceparent: other, tracestate: "b=1" })).toEqual({
      parent: { traceId: TRACE, spanId: SPAN, sampled: true, state: "a=1" },
    });
    expect(asked({ progressToken: 1 }, { traceparent: other, tracestate: "b=1", baggage: "c=1" })).toEqual({
      parent: { traceId: TRACE, spanId: "1".repeat(16), sampled: false, state: "b=1" },
      baggage: "c=1",
    });
  });

  it("MG-3 is never mixed from both: a tracestate belongs to its traceparent", () => {
    expect(asked({ traceparent: PARENT }, { traceparent: other, tracestate: "b=1" }).parent?.state).toBeUndefined();
    expect(asked({ traceparent: "junk" }, { traceparent: other }).parent).toBeUndefined();
  });

  it("MG-3 may be missing", () => expect(asked(undefined)).toEqual({}));
});
