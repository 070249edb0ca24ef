// CPU time of synchronous work, for bounds that must hold on a busy machine.

const MAX_RUNS = 10;

/** The CPU time of the fastest run in milliseconds. Stops at the first run below the limit. */
export function leastCpuMs(work: () => void, limitMs: number): number {
  let least = Infinity;
  for (let run = 0; run < MAX_RUNS && least >= limitMs; run++) {
    const start = process.cpuUsage();
    work();
    least = Math.min(least, process.cpuUsage(start).user / 1000);
  }
  return least;
}
