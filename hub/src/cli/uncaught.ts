// Handles uncaught errors of the hub. The request that caused one is lost, but servers and other clients are not, so the hub
// keeps running and exits with a failure later. If errors keep coming it exits at once.

import type { Hub } from "../hub/hub.ts";
import type { Io } from "./io.ts";

/** More errors within a minute end the hub. */
const MAX_FAULTS = 10;
const WITHIN_MS = 60_000;

/** @example const uncaught = new UncaughtErrors(io, hub); … return uncaught.exitCode; */
export class UncaughtErrors {
  readonly #io: Io;
  readonly #hub: Pick<Hub, "reportUnexpected">;
  /** Times of the latest errors. */
  #times: number[] = [];

  constructor(io: Io, hub: Pick<Hub, "reportUnexpected">) {
    this.#io = io;
    this.#hub = hub;
    io.onFault((error) => this.#outlive(error));
  }

  /** 1 if there was any uncaught error. */
  get exitCode(): number {
    return this.#times.length === 0 ? 0 : 1;
  }

  #outlive(error: unknown): void {
    const now = performance.now();
    this.#times = [...this.#times, now].slice(-MAX_FAULTS - 1);
    const text = this.#hub.reportUnexpected(error);
    const isTooMuch = this.#times.length > MAX_FAULTS && now - (this.#times[0] ?? 0) < WITHIN_MS;
    const outcome = isTooMuch
      ? "Too many of them: the hub exits"
      : "The request that caused it failed; the hub keeps running";
    this.#io.stderr.write(`Internal error. ${outcome}. Please report it:\n${text}\n`);
    if (isTooMuch) this.#io.exit(1);
  }
}
