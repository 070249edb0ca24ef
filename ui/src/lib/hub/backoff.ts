// How long to wait before the next try to reach the hub, longer each time, and not all tabs at once; and the wait itself.

const STEPS_MS = [1000, 2000, 4000, 8000, 15_000];

export function backoffMs(failures: number, random: () => number = Math.random): number {
  const step = STEPS_MS[Math.min(failures, STEPS_MS.length) - 1] ?? 1000;
  return Math.round(step * (0.75 + random() / 2));
}

/** Waits, unless the signal is aborted before. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
