// Traces by OpenTelemetry's conventions, sent as OTLP/HTTP JSON. No SDK: it would keep a stopping hub alive, read the
// environment by itself, and add half of the installed size, while the hub needs only these few files.

import { VERSION } from "../version.ts";
import { arrivedBy, askedFor, failureOf, route, sentBy, spanName } from "./attributes.ts";
import { Exporter } from "./exporter.ts";
import { encodeJson } from "./otlp-json.ts";
import type { TraceSettings } from "./settings.ts";
import { KIND, type Attributes, type SpanData } from "./span.ts";
import { incomingContext, newSpanId, newTraceId, toMeta, type SpanContext } from "./trace-context.ts";
import type { ClientSpan, SentFacts, ServerSpan, TracedRequest, TraceOutcome, Tracing } from "./tracing.ts";

export interface OtlpTracingOptions {
  readonly settings: TraceSettings;
  /** Distinguishes hubs of the same name. */
  readonly instance: string;
  /** Masks secrets in text from clients and servers. */
  readonly redact: (text: string) => string;
  readonly onWarning: (message: string) => void;
}

export class OtlpTracing implements Tracing {
  readonly #options: OtlpTracingOptions;
  readonly #exporter: Exporter;

  constructor(options: OtlpTracingOptions) {
    this.#options = options;
    const { settings, instance, onWarning } = options;
    const identity = { "service.version": VERSION, "service.instance.id": instance };
    const origin = {
      resource: { ...identity, ...settings.resource },
      scope: { name: "plugboard", version: VERSION },
    };
    this.#exporter = new Exporter({
      ...settings,
      encode: (spans) => encodeJson(spans, origin),
      // The URL may contain a password, its origin does not.
      onFailure: (reason) => onWarning(`Cannot send traces to the collector at ${settings.url.origin}: ${reason}`),
    });
  }

  serve(request: TracedRequest): ServerSpan {
    const { settings, redact } = this.#options;
    const { parent, baggage } = incomingContext(request);
    const traceId = parent?.traceId ?? newTraceId();
    const sampled = settings.sampler(traceId, parent);
    const context = { traceId, spanId: newSpanId(), sampled, state: parent?.state };
    if (!sampled) return unsampled(context, baggage);
    const { method, params, replace, server, group, arrival } = request;
    const asked = askedFor(method, params?.value ?? {}, redact);
    const clock = startClock();
    const span = this.#begin({
      context,
      parent: parent === undefined ? undefined : { spanId: parent.spanId, isRemote: true },
      kind: KIND.server,
      asked,
      attributes: { ...arrivedBy(arrival), ...route(server, group) },
      clock,
    });
    const forward = (): ClientSpan => {
      const own = { ...context, spanId: newSpanId() };
      const child = this.#begin({
        context: own,
        parent: { spanId: context.spanId, isRemote: false },
        kind: KIND.client,
        asked: replace === undefined ? asked : askedFor(method, { ...params?.value, ...replace }, redact),
        attributes: route(server, group),
        clock,
      });
      return { ...child, meta: toMeta(own, baggage) };
    };
    return { ...span, traceId, forward };
  }

  close(): Promise<void> {
    return this.#exporter.close();
  }

  #begin({ context, parent, kind, asked, attributes, clock }: Beginning) {
    const start = clock();
    let allAttributes: Attributes = { ...asked, ...attributes };
    return {
      sent: (facts: SentFacts) => {
        allAttributes = { ...allAttributes, ...sentBy(facts) };
      },
      end: (outcome: TraceOutcome) => {
        const failure = failureOf(outcome);
        this.#exporter.add({
          context,
          parent,
          name: spanName(asked),
          kind,
          start,
          end: clock(),
          attributes: { ...allAttributes, ...failure?.attributes },
          failed: failure !== undefined,
          message: failure?.message === undefined ? undefined : this.#options.redact(failure.message),
        });
      },
    };
  }
}

interface Beginning extends Pick<SpanData, "context" | "parent" | "kind" | "attributes"> {
  readonly asked: Attributes;
  readonly clock: () => bigint;
}

const nothing = (): void => undefined;

/** Not recorded, but the trace context is still passed on to the server. */
function unsampled(context: SpanContext, baggage: string | undefined): ServerSpan {
  return {
    traceId: undefined,
    end: nothing,
    forward: () => ({ end: nothing, sent: nothing, meta: toMeta({ ...context, spanId: newSpanId() }, baggage) }),
  };
}

/** Nanoseconds since the epoch. Monotonic within a request, so that a span never ends before it begins. */
function startClock(): () => bigint {
  const offsetMs = Date.now() - performance.now();
  return () => BigInt(Math.round((offsetMs + performance.now()) * 1000)) * 1000n;
}
