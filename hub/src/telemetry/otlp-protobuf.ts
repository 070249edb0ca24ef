// Spans as OTLP in protobuf: the few messages of opentelemetry/proto/trace/v1 that the hub sends, by their field numbers.

import { ProtobufWriter } from "./protobuf-writer.ts";
import { attributesOf, flagsOf, STATUS, type Attributes, type Encode, type SpanData } from "./span.ts";

export const encodeProtobuf: Encode = (spans, { resource, scope }) => {
  const to = new ProtobufWriter();
  to.message(1, () => {
    to.message(1, () => writeAttributes(to, 1, resource));
    to.message(2, () => {
      to.message(1, () => {
        to.text(1, scope.name);
        to.text(2, scope.version);
      });
      for (const span of spans) to.message(2, () => writeSpan(to, span));
    });
  });
  return to.finish();
};

function writeSpan(to: ProtobufWriter, span: SpanData): void {
  const { context, parent, name, kind, start, end, attributes, failed } = span;
  to.hex(1, context.traceId);
  to.hex(2, context.spanId);
  to.text(3, context.state);
  to.hex(4, parent?.spanId);
  to.text(5, name);
  to.integer(6, kind);
  to.fixed64(7, start);
  to.fixed64(8, end);
  writeAttributes(to, 9, attributes);
  if (failed) {
    to.message(15, () => {
      to.text(2, span.message);
      to.integer(3, STATUS.error);
    });
  }
  to.fixed32(16, flagsOf(span));
}

const VALUE = { text: 1, integer: 3 } as const;

function writeAttributes(to: ProtobufWriter, field: number, attributes: Attributes): void {
  for (const [key, value] of attributesOf(attributes)) {
    to.message(field, () => {
      to.text(1, key);
      to.message(2, () => to.choice(typeof value === "string" ? VALUE.text : VALUE.integer, value));
    });
  }
}
