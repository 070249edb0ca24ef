// A start or a test of a server that reports its progress: stages, lines of its log, and the result.

import type { LogEvent, StageEvent } from "$api/progress.ts";
import { api, Problem, type ProblemFields } from "../lib/hub/api.ts";

type StreamState = "idle" | "running" | "done" | "failed" | "cancelled";

const KEPT_LINES = 200;

export class StartStream<T> {
  state: StreamState = $state("idle");
  stages: readonly StageEvent[] = $state.raw([]);
  lines: readonly string[] = $state.raw([]);
  result: T | undefined = $state.raw();
  problem: Problem | undefined = $state.raw();
  startedAt = $state(0);
  #abort: AbortController | undefined;

  /** Resolves when it is over, however it ended. */
  async run(path: string, body?: unknown): Promise<void> {
    this.#abort?.abort();
    const abort = (this.#abort = new AbortController());
    this.state = "running";
    this.stages = [];
    this.lines = [];
    this.result = undefined;
    this.problem = undefined;
    this.startedAt = Date.now();
    try {
      await api.stream(path, { method: "POST", body, signal: abort.signal }, ({ event, data }) =>
        this.#heard(event, JSON.parse(data)),
      );
    } catch (error) {
      if (abort.signal.aborted) return;
      if (!(error instanceof Problem)) throw error;
      this.problem = error;
      this.state = "failed";
    }
  }

  /** The hub stops what it started when the request ends. */
  cancel(): void {
    this.#abort?.abort();
    if (this.state === "running") this.state = "cancelled";
  }

  #heard(event: string, data: unknown): void {
    if (event === "stage") this.stages = [...this.stages, data as StageEvent];
    else if (event === "log") this.lines = [...this.lines, (data as LogEvent).text].slice(-KEPT_LINES);
    else if (event === "problem") {
      this.problem = new Problem(data as ProblemFields);
      this.state = "failed";
    } else if (event === "result") {
      this.result = data as T;
      this.state = "done";
    }
  }
}
