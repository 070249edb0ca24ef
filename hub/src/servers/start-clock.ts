// How long a start may take, phase by phase: fetching the server has a limit of its own, and the start limit counts from
// its launch. Waiting for a turn counts as neither.

import type { Stage } from "./status.ts";

/** What the time was spent on when it ran out. */
export type Phase = "install" | "start";

const PHASES: Readonly<Record<Stage, Phase | undefined>> = {
  resolving: undefined,
  queued: undefined,
  installing: "install",
  launching: "start",
  downloading: "install",
  handshake: "start",
  listing: "start",
};

export class StartClock {
  readonly #limits: Readonly<Record<Phase, number>>;
  readonly #abort = new AbortController();
  #phase: Phase | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: Readonly<Record<Phase, number>>) {
    this.#limits = limits;
  }

  /** Aborted when a phase took too long. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The phase that took too long. */
  get expired(): Phase | undefined {
    return this.#abort.signal.aborted ? this.#phase : undefined;
  }

  /** A stage of another phase than before starts that phase's limit anew. */
  enter(stage: Stage): void {
    const phase = PHASES[stage];
    if (phase === this.#phase || this.#abort.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#phase = phase;
    if (phase !== undefined) this.#timer = setTimeout(() => this.#abort.abort(), this.#limits[phase]);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
