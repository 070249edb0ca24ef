// A short interval of load: a constant number of concurrent calls, all of them answered at the end.

import { percentiles } from "../statistics.ts";
import type { Lane } from "./link.ts";

export interface Slice {
  readonly calls: number;
  /** From the first request to the last answer. */
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface SliceOptions {
  /** No call begins after this time. */
  readonly ms: number;
  /** A shorter answer is an error. */
  readonly answerBytes: number;
}

/** The position of the result in an answer, at most after the framing of an event. */
const RESULT_WITHIN = 300;
/** The answer of a failed tool is short. */
const ERROR_WITHIN = 4096;

/** One call in each lane, which opens its connection and ends idle states. */
export function warmUp(lanes: readonly Lane[], options: Omit<SliceOptions, "ms">): Promise<Slice> {
  return runSlice(lanes, { ...options, ms: 0 });
}

export function runSlice(lanes: readonly Lane[], { ms, answerBytes }: SliceOptions): Promise<Slice> {
  return new Promise((resolve, reject) => {
    const durations: number[] = [];
    const startedAt = performance.now();
    let open = lanes.length;
    const run = (lane: Lane) => {
      const sentAt = performance.now();
      const onAnswer = (answer: Buffer) => {
        const now = performance.now();
        durations.push(now - sentAt);
        if (!isRight(answer, answerBytes))
          return reject(new Error(`A wrong answer: ${answer.toString("utf8", 0, 300)}`));
        if (now - startedAt < ms) return run(lane);
        if (--open > 0) return;
        const [p50Ms, p99Ms] = percentiles(Float64Array.from(durations), [0.5, 0.99]);
        resolve({ calls: durations.length, elapsedMs: now - startedAt, p50Ms, p99Ms });
      };
      lane.call(onAnswer, reject);
    };
    lanes.forEach(run);
  });
}

function isRight(answer: Buffer, bytes: number): boolean {
  if (answer.length < bytes || !answer.subarray(0, RESULT_WITHIN).includes('"result"')) return false;
  return answer.length > ERROR_WITHIN || !answer.includes('"isError":true');
}
