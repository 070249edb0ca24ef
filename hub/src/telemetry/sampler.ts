// The samplers that OTEL_TRACES_SAMPLER can name.

import type { SpanContext } from "./trace-context.ts";

export type Sampler = (traceId: string, parent: SpanContext | undefined) => boolean;

export const DEFAULT_SAMPLER = "parentbased_always_on";

/** The sampler of that name, or undefined. `ratio` is the share of traces for `traceidratio`. */
export function createSampler(name: string, ratio: number): Sampler | undefined {
  const [, based, root = ""] = /^(parentbased_)?(.*)$/.exec(name) ?? [];
  const decide = ROOTS[root]?.(ratio);
  if (decide === undefined || based === undefined) return decide;
  return (traceId, parent) => parent?.sampled ?? decide(traceId, parent);
}

const ROOTS: Readonly<Partial<Record<string, (ratio: number) => Sampler>>> = {
  always_on: () => () => true,
  always_off: () => () => false,
  // Decides by the random end of the id, like other implementations, so that all hops make the same decision.
  traceidratio: (ratio) => (traceId) => Number.parseInt(traceId.slice(-13), 16) / 2 ** 52 >= 1 - ratio,
};
