// Spans as OTLP in JSON (opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest).

import { attributesOf, flagsOf, STATUS, type Attributes, type Encode, type SpanData } from "./span.ts";

export const encodeJson: Encode = (spans, { resource, scope }) => {
  const scopeSpans = [{ scope, spans: spans.map(toSpan) }];
  return Buffer.from(
    JSON.stringify({ resourceSpans: [{ resource: { attributes: toAttributes(resource) }, scopeSpans }] }),
  );
};

function toSpan(span: SpanData): object {
  const { context, parent, name, kind, start, end, attributes, failed, message } = span;
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    traceState: context.state,
    parentSpanId: parent?.spanId,
    flags: flagsOf(span),
    name,
    kind,
    startTimeUnixNano: String(start),
    endTimeUnixNano: String(end),
    attributes: toAttributes(attributes),
    status: failed ? { code: STATUS.error, message } : { code: STATUS.unset },
  };
}

function toAttributes(attributes: Attributes): object[] {
  return attributesOf(attributes).map(([key, value]) => ({
    key,
    value: typeof value === "string" ? { stringValue: value } : { intValue: String(value) },
  }));
}
