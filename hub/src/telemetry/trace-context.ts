// W3C trace context (traceparent, tracestate, baggage), read from a message's `_meta` or from HTTP headers.

import { randomUUID } from "node:crypto";
import { isObject, type JsonObject } from "../lib/json/json.ts";
import type { TracedRequest } from "./tracing.ts";

/** The part of a span that is passed on. */
export interface SpanContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  readonly sampled: boolean;
  readonly state?: string | undefined;
}

export interface Incoming {
  /** The caller's span; undefined without a valid traceparent. */
  readonly parent?: SpanContext;
  readonly baggage?: string | undefined;
}

/** `_meta` takes precedence over headers. */
export function incomingContext({ params, arrival }: TracedRequest): Incoming {
  const meta = (arrival?.request?.params ?? params)?.value["_meta"];
  const fields = isObject(meta) && meta["traceparent"] !== undefined ? meta : (arrival?.headers ?? {});
  const parent = parseTraceparent(fields["traceparent"]);
  const baggage = isObject(meta) && meta["baggage"] !== undefined ? meta["baggage"] : fields["baggage"];
  return {
    ...(parent === undefined ? {} : { parent: { ...parent, state: textOf(fields["tracestate"]) } }),
    baggage: textOf(baggage),
  };
}

/** Later versions may append fields, which are ignored. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

export function parseTraceparent(text: unknown): SpanContext | undefined {
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(textOf(text)?.trim() ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === "00" && more !== undefined) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 };
}

/** The members of `_meta` for a request within a span. */
export function toMeta({ traceId, spanId, sampled, state }: SpanContext, baggage: string | undefined): JsonObject {
  return { traceparent: `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`, tracestate: state, baggage };
}

/** randomUUID is the fastest source of random ids. Some of its bits are fixed, so no id is zero. */
export function newTraceId(): string {
  return randomUUID().replaceAll("-", "");
}

export function newSpanId(): string {
  return newTraceId().slice(16);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
