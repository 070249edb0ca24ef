// Encodes spans as OTLP in JSON (opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest).

import type { AttributeValue, Attributes, SpanData } from "./span.ts";

/** Values of the protocol. */
const STATUS = { unset: 0, error: 2 } as const;
const FLAG = { sampled: 1, hasIsRemote: 0x100, isRemote: 0x200 } as const;

/** The sender of the spans. */
export interface Origin {
  readonly resource: Attributes;
  readonly scope: { readonly name: string; readonly version: string };
}

export function encodeJson(spans: readonly SpanData[], { resource, scope }: Origin): Buffer {
  const scopeSpans = [{ scope, spans: spans.map(toSpan) }];
  return Buffer.from(
    JSON.stringify({ resourceSpans: [{ resource: { attributes: toAttributes(resource) }, scopeSpans }] }),
  );
}

function toSpan({ context, parent, name, kind, start, end, attributes, failed, message }: SpanData): object {
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    traceState: context.state,
    parentSpanId: parent?.spanId,
    // Only sampled spans are sent.
    flags: FLAG.sampled | FLAG.hasIsRemote | (parent?.isRemote === true ? FLAG.isRemote : 0),
    name,
    kind,
    startTimeUnixNano: String(start),
    endTimeUnixNano: String(end),
    attributes: toAttributes(attributes),
    status: failed ? { code: STATUS.error, message } : { code: STATUS.unset },
  };
}

function toAttributes(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: toValue(value) }],
  );
}

function toValue(value: AttributeValue): object {
  return typeof value === "string" ? { stringValue: value } : { intValue: String(value) };
}
