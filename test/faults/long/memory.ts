// Whether memory piles up: what is garbage, or was needed for an instant, comes and goes, so only the lowest values count.

import { knock } from "../../support/wall-clock.ts";
import type { FaultHub } from "../fault-hub.ts";

const PARTS = 8;

/** The lowest value of each eighth of a run. The first one is of a program that still warms up. */
export function lowest(samples: readonly number[]): number[] {
  const size = Math.max(1, Math.ceil(samples.length / PARTS));
  const parts = Array.from({ length: PARTS }, (_, n) => samples.slice(n * size, (n + 1) * size));
  return parts.filter((part) => part.length > 0).map((part) => Math.min(...part));
}

/** From the second eighth to the last. */
export function growth(lows: readonly number[]): number {
  const [, early = 0] = lows;
  return (lows.at(-1) ?? 0) / early - 1;
}

/** The environment of a hub that can be told to collect. */
export const COLLECTING = {
  NODE_OPTIONS: `--expose-gc --import=${new URL("../../support/collect-on-signal.mjs", import.meta.url).href}`,
};

/** Garbage is no growth, however long it lies about. Only for a hub with the environment above. */
export async function collectGarbage(hub: FaultHub): Promise<void> {
  process.kill(hub.pid, "SIGUSR2");
  // Whatever it is asked next, it answers afterwards.
  await knock(() => hub.metrics());
}

/** Of the hub's own objects, in MB. */
export async function heapOf(hub: FaultHub): Promise<number> {
  const text = await knock(
    () => hub.metrics(),
    (metrics) => metrics.includes("nodejs_heap_size_used_bytes "),
  );
  return Number(/^nodejs_heap_size_used_bytes (\S+)$/m.exec(text)?.[1]) / 1e6;
}

/** @example toMegabytes([24.91, 25.2]) // "24.9, 25.2 MB" */
export function toMegabytes(values: readonly number[]): string {
  return `${values.map((value) => value.toFixed(1)).join(", ")} MB`;
}
