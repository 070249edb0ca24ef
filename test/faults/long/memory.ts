// Detects memory growth. Garbage and temporary buffers come and go, so only the minimum of each interval counts.

import { knock } from "../../support/wall-clock.ts";
import type { FaultHub } from "../fault-hub.ts";

const PARTS = 8;

/** The minimum of each eighth of a run. The first eighth is warm-up. */
export function lowest(samples: readonly number[]): number[] {
  const size = Math.max(1, Math.ceil(samples.length / PARTS));
  const parts = Array.from({ length: PARTS }, (_, n) => samples.slice(n * size, (n + 1) * size));
  return parts.filter((part) => part.length > 0).map((part) => Math.min(...part));
}

/** Growth from the second eighth to the last. */
export function growth(lows: readonly number[]): number {
  const [, early = 0] = lows;
  return (lows.at(-1) ?? 0) / early - 1;
}

/** The environment of a hub that collects garbage on a signal. */
export const COLLECTING = {
  NODE_OPTIONS: `--expose-gc --import=${new URL("../../support/collect-on-signal.mjs", import.meta.url).href}`,
};

/** Collects garbage in a hub with the environment above, so that only reachable memory is measured. */
export async function collectGarbage(hub: FaultHub): Promise<void> {
  process.kill(hub.pid, "SIGUSR2");
  // The next response comes after the collection.
  await knock(() => hub.metrics());
}

/** The heap of the hub in MB. */
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
