// Work that several wait for and that is done once: it ends with the last of them who no longer waits.

import { HubError } from "../../errors.ts";

interface Job<T> {
  readonly done: Promise<T>;
  readonly abort: AbortController;
  waiting: number;
}

export class SharedWork<T> {
  readonly #jobs = new Map<string, Job<T>>();

  /** Joins the work of this key, or begins it. Whoever gives up last waits until nothing of it is left. */
  async join(key: string, signal: AbortSignal, begin: (signal: AbortSignal) => Promise<T>): Promise<T> {
    for (let old = this.#jobs.get(key); old?.abort.signal.aborted === true; old = this.#jobs.get(key)) {
      await old.done.catch(() => undefined); // whoever waited for it has the reason
    }
    if (signal.aborted) throw cancelled();
    const job = this.#jobs.get(key) ?? this.#begin(key, begin);
    job.waiting++;
    try {
      return await untilAborted(job.done, signal);
    } finally {
      if (--job.waiting === 0) {
        job.abort.abort();
        await job.done.catch(() => undefined); // said above, or nobody waits for it
      }
    }
  }

  /** Ends all of it, whoever waits. */
  async end(): Promise<void> {
    const jobs = [...this.#jobs.values()];
    for (const { abort } of jobs) abort.abort();
    await Promise.allSettled(jobs.map(({ done }) => done));
  }

  #begin(key: string, begin: (signal: AbortSignal) => Promise<T>): Job<T> {
    const abort = new AbortController();
    const done = begin(abort.signal).finally(() => {
      if (this.#jobs.get(key) === job) this.#jobs.delete(key);
    });
    const job: Job<T> = { done, abort, waiting: 0 };
    this.#jobs.set(key, job);
    return job;
  }
}

/** Resolves as the work does, unless whoever waits gives up before. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(cancelled());
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

function cancelled(): HubError {
  return new HubError("Cancelled", "Nobody waits for it any more");
}
