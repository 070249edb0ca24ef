// Spans as OTLP in protobuf: the few messages of opentelemetry/proto/trace/v1 that the hub sends, by their field numbers.

import {
  attributesOf,
  flagsOf,
  STATUS,
  type Attributes,
  type AttributeValue,
  type Encode,
  type SpanData,
} from "./span.ts";

export const encodeProtobuf: Encode = (spans, { resource, scope }) => {
  const scopeSpans = [
    ...message(1, [...text(1, scope.name), ...text(2, scope.version)]),
    ...spans.flatMap((span) => message(2, toSpan(span))),
  ];
  return Buffer.concat(message(1, [...message(1, toAttributes(1, resource)), ...message(2, scopeSpans)]));
};

function toSpan(span: SpanData): Buffer[] {
  const { context, parent, name, kind, start, end, attributes, failed } = span;
  return [
    ...bytes(1, Buffer.from(context.traceId, "hex")),
    ...bytes(2, Buffer.from(context.spanId, "hex")),
    ...text(3, context.state),
    ...bytes(4, Buffer.from(parent?.spanId ?? "", "hex")),
    ...text(5, name),
    ...integer(6, BigInt(kind)),
    fixed64(7, start),
    fixed64(8, end),
    ...toAttributes(9, attributes),
    ...(failed ? message(15, [...text(2, span.message), ...integer(3, BigInt(STATUS.error))]) : []),
    fixed32(16, flagsOf(span)),
  ];
}

function toAttributes(field: number, attributes: Attributes): Buffer[] {
  return attributesOf(attributes).flatMap(([key, value]) =>
    message(field, [...text(1, key), ...message(2, toValue(value))]),
  );
}

function toValue(value: AttributeValue): Buffer[] {
  return typeof value === "string" ? [tagged(1, Buffer.from(value))] : [tag(3, WIRE.varint), varint(BigInt(value))];
}

const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/** Empty text and zero are what a reader takes for granted, and are left out. */
function text(field: number, value: string | undefined): Buffer[] {
  return bytes(field, Buffer.from(value ?? ""));
}

function bytes(field: number, value: Buffer): Buffer[] {
  return value.length === 0 ? [] : [tagged(field, value)];
}

function integer(field: number, value: bigint): Buffer[] {
  return value === 0n ? [] : [tag(field, WIRE.varint), varint(value)];
}

function message(field: number, parts: readonly Buffer[]): Buffer[] {
  return [tagged(field, Buffer.concat(parts))];
}

function tagged(field: number, value: Buffer): Buffer {
  return Buffer.concat([tag(field, WIRE.bytes), varint(BigInt(value.length)), value]);
}

function fixed64(field: number, value: bigint): Buffer {
  const number = Buffer.alloc(8);
  number.writeBigUInt64LE(value);
  return Buffer.concat([tag(field, WIRE.fixed64), number]);
}

function fixed32(field: number, value: number): Buffer {
  const number = Buffer.alloc(4);
  number.writeUInt32LE(value);
  return Buffer.concat([tag(field, WIRE.fixed32), number]);
}

function tag(field: number, wire: number): Buffer {
  return varint(BigInt((field << 3) | wire));
}

function varint(value: bigint): Buffer {
  const digits: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest > 0x7fn; rest >>= 7n) digits.push(Number(rest & 0x7fn) | 0x80);
  digits.push(Number(rest));
  return Buffer.from(digits);
}
