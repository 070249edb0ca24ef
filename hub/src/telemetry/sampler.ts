// Which traces are recorded, by the names that OTEL_TRACES_SAMPLER has for it.

import type { SpanContext } from "./trace-context.ts";

export type Sampler = (traceId: string, parent: SpanContext | undefined) => boolean;

export const DEFAULT_SAMPLER = "parentbased_always_on";

/** The sampler of that name; undefined where there is none. `ratio` is the share of traces, where it needs one. */
export function createSampler(name: string, ratio: number): Sampler | undefined {
  const [, based, root = ""] = /^(parentbased_)?(.*)$/.exec(name) ?? [];
  const decide = ROOTS[root]?.(ratio);
  if (decide === undefined || based === undefined) return decide;
  return (traceId, parent) => parent?.sampled ?? decide(traceId, parent);
}

const ROOTS: Readonly<Partial<Record<string, (ratio: number) => Sampler>>> = {
  always_on: () => () => true,
  always_off: () => () => false,
  // By the id's random end, as others do it too: so a trace is recorded by all who see it, or by none.
  traceidratio: (ratio) => (traceId) => Number.parseInt(traceId.slice(-13), 16) / 2 ** 52 >= 1 - ratio,
};
