// Single flight: concurrent callers share one run of the work. It is aborted when the last caller gives up.

import { HubError } from "../errors.ts";

interface Job<T> {
  readonly done: Promise<T>;
  readonly abort: AbortController;
  waiters: number;
}

export class SingleFlight<T> {
  readonly #jobs = new Map<string, Job<T>>();

  /** Joins the work of this key, or starts it. The last caller to give up waits until the work has ended. */
  async join(key: string, signal: AbortSignal, begin: (signal: AbortSignal) => Promise<T>): Promise<T> {
    for (let old = this.#jobs.get(key); old?.abort.signal.aborted === true; old = this.#jobs.get(key)) {
      await old.done.catch(() => undefined); // its callers got the error
    }
    if (signal.aborted) throw cancelled();
    const job = this.#jobs.get(key) ?? this.#begin(key, begin);
    job.waiters++;
    try {
      return await untilAborted(job.done, signal);
    } finally {
      if (--job.waiters === 0) {
        job.abort.abort();
        await job.done.catch(() => undefined); // thrown above, or no caller waits
      }
    }
  }

  /** Aborts all work. */
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
    const job: Job<T> = { done, abort, waiters: 0 };
    this.#jobs.set(key, job);
    return job;
  }
}

function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(cancelled());
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

function cancelled(): HubError {
  return new HubError("Cancelled", "Cancelled by the caller");
}
