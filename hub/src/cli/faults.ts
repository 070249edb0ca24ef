// Faults of the hub itself that nobody caught. What one came with is lost; the servers, the other clients and their sessions
// are not, so the hub goes on, says so, and ends with a failure. Where one follows the other it ends at once.

import type { Hub } from "../hub.ts";
import type { Io } from "./io.ts";

/** More within a minute, and going on helps nobody. */
const MAX_FAULTS = 10;
const WITHIN_MS = 60_000;

/** @example const faults = new Faults(io, hub); … return faults.exitCode; */
export class Faults {
  readonly #io: Io;
  readonly #hub: Pick<Hub, "reportUnexpected">;
  /** When the last ones were. */
  #times: number[] = [];

  constructor(io: Io, hub: Pick<Hub, "reportUnexpected">) {
    this.#io = io;
    this.#hub = hub;
    io.onFault((error) => this.#outlive(error));
  }

  /** Nobody should take a hub that had any for one that ran well. */
  get exitCode(): number {
    return this.#times.length === 0 ? 0 : 1;
  }

  #outlive(error: unknown): void {
    const now = performance.now();
    this.#times = [...this.#times, now].slice(-MAX_FAULTS - 1);
    const text = this.#hub.reportUnexpected(error);
    const isTooMuch = this.#times.length > MAX_FAULTS && now - (this.#times[0] ?? 0) < WITHIN_MS;
    const outcome = isTooMuch ? "one too many: it ends" : "what it came with is lost, all else goes on";
    this.#io.stderr.write(`A fault of the hub itself, uncaught; ${outcome}. Please report it:\n${text}\n`);
    if (isTooMuch) this.#io.exit(1);
  }
}
