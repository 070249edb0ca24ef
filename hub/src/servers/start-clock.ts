// How long a start may take, phase by phase: fetching the server has a limit of its own, and the start limit counts from
// its launch. Waiting for a turn counts as neither.

import type { Transport } from "../config/types.ts";
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

/** From the launch. A launcher may take its time before it says that it downloads something. */
const START_MS = { npx: 120_000, uvx: 120_000, docker: 120_000, binary: 30_000, remote: 30_000 } as const;
/** Other programs that fetch a server before they run it, and say nothing about it. */
const FETCHERS = /^(?:bun|bunx|pnpm|pnpx|yarn|npm|deno|pipx|uv|dnx|go|nerdctl)(?:\.exe|\.cmd)?$/;

/** How long a server may take from its launch, where its entry does not say. */
export function defaultStartMs(transport: Transport): number {
  if (transport.type !== "stdio") return START_MS.remote;
  const base = transport.command.slice(
    Math.max(transport.command.lastIndexOf("/"), transport.command.lastIndexOf("\\")) + 1,
  );
  return FETCHERS.test(base) ? START_MS.npx : START_MS[transport.launcher];
}

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
