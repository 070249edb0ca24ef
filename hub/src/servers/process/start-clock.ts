// Time limits of a start: downloading the server has a separate limit, and the start limit counts from the launch. Waiting in a
// queue counts for neither.

import type { Transport } from "../../config/schema/types.ts";
import type { Stage } from "../status.ts";

/** The phase whose limit was exceeded. */
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

/** From the launch. A launcher may be silent for a while before it reports a download. */
const START_MS = { npx: 120_000, uvx: 120_000, docker: 120_000, binary: 30_000, remote: 30_000 } as const;
/** Other programs that download a server before they run it, without reporting it. */
const FETCHERS = /^(?:bun|bunx|pnpm|pnpx|yarn|npm|deno|pipx|uv|dnx|go|nerdctl)(?:\.exe|\.cmd)?$/;

/**
 * The start limit of a server whose entry sets none. After a timeout the next try has twice the time, up to the limit of a
 * launcher: a server that needs 40 s would otherwise never start.
 *
 * @param timeouts starts in a row that took too long
 */
export function defaultStartMs(transport: Transport, timeouts = 0): number {
  return Math.max(usualStartMs(transport), Math.min(usualStartMs(transport) * 2 ** timeouts, START_MS.npx));
}

function usualStartMs(transport: Transport): number {
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

  /** A stage of another phase starts that phase's limit. */
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
