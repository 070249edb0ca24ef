// Start progress on stderr, one line per server with its stage and elapsed time. Redrawn in place on a terminal; elsewhere one
// line when a server is up or has failed.

import { summaryOf } from "../../errors.ts";
import { isLoginError } from "../../servers/login/login-errors.ts";
import { isBroken } from "../../servers/status.ts";
import type { Io } from "../io.ts";
import type { Output } from "./output.ts";
import { table, type Cell } from "./table.ts";
import { count, firstLine } from "./text.ts";
import { seconds, span } from "./times.ts";

interface StartupError {
  readonly kind: string;
  readonly message: string;
  readonly detail?: string | undefined;
  readonly hint?: string | undefined;
}

/** A starting server, in the terms of the management API. */
export interface Startup {
  readonly name: string;
  readonly kind: string;
  readonly status: string;
  readonly stage?: string | null;
  /** Position of its package in the install queue. */
  readonly install?: { readonly position: number; readonly total: number } | null;
  readonly error?: StartupError | null;
  readonly tools?: readonly unknown[];
  /** When it entered this state; if the time is not shown otherwise. */
  readonly since?: string | null;
}

const REDRAW_MS = 100;

export class Progress {
  readonly #io: Io;
  readonly #out: Output;
  readonly #servers: () => readonly Startup[];
  readonly #startedAt = new Map<string, number>();
  readonly #tookMs = new Map<string, number>();
  readonly #beganAt = performance.now();
  #drawn = 0;

  /** `servers` is polled. */
  constructor(io: Io, out: Output, servers: () => readonly Startup[]) {
    this.#io = io;
    this.#out = out;
    this.#servers = servers;
  }

  /** Shows progress until `settled` settles. */
  async show(settled: Promise<unknown>): Promise<void> {
    this.#look();
    const timer = setInterval(() => this.#look(), REDRAW_MS);
    await settled.catch(() => undefined); // the caller handles the error
    clearInterval(timer);
    this.#look();
  }

  #look(): void {
    const servers = this.#servers();
    const settled = servers.filter((server) => this.#note(server));
    if (this.#out.live) this.#draw(servers, settled);
    else if (!this.#out.quiet) this.#io.stderr.write(table(settled.map((server) => this.#row(server))));
  }

  /** True if it has just come up or failed. */
  #note({ name, status }: Startup): boolean {
    if (status !== "disabled" && status !== "stopped" && !this.#startedAt.has(name)) {
      // Already up at the first poll: use the time since the display began.
      this.#startedAt.set(name, status === "starting" ? performance.now() : this.#beganAt);
    }
    const done = status === "running" || isBroken(status);
    if (!done || this.#tookMs.has(name)) return false;
    this.#tookMs.set(name, performance.now() - (this.#startedAt.get(name) ?? this.#beganAt));
    return true;
  }

  #draw(servers: readonly Startup[], settled: readonly Startup[]): void {
    const height = (this.#io.stderr.rows || 24) - 1;
    // Lines that scrolled off the screen cannot be redrawn: with many servers only the starting ones stay.
    const fits = servers.length <= height;
    const above = fits ? [] : this.#lines(settled);
    const lines = fits ? this.#lines(servers) : this.#busy(servers, height);
    const up = this.#drawn === 0 ? "" : `\u001b[${this.#drawn}A`;
    this.#io.stderr.write(`${up}${[...above, ...lines].map((line) => `\u001b[2K${line}\n`).join("")}\u001b[J`);
    this.#drawn = lines.length;
  }

  #lines(servers: readonly Startup[]): string[] {
    const width = (this.#io.stderr.columns || 80) - 1;
    const rows = servers.map((server) => this.#row(server));
    return table(rows, { width }).split("\n").slice(0, -1);
  }

  /** The busy servers, and the number of waiting ones. */
  #busy(servers: readonly Startup[], height: number): string[] {
    const starting = servers.filter(({ status }) => status === "starting");
    const busy = starting.filter(({ stage }) => stage !== "queued").slice(0, height - 1);
    const more = starting.length - busy.length;
    return [...this.#lines(busy), ...(more === 0 ? [] : [`  … ${more} more waiting`])];
  }

  #row(server: Startup): Cell[] {
    const since = this.#startedAt.get(server.name);
    const tookMs = this.#tookMs.get(server.name) ?? (since === undefined ? 0 : performance.now() - since);
    return [
      { text: `  ${markOf(server.status)} ${server.name}`, paint: this.#out.noteColor[colorOf(server.status)] },
      server.kind,
      seconds(tookMs).padStart(5),
      describeWithFix(server),
    ];
  }
}

export { isBroken };

export function markOf(status: string): string {
  if (status === "running") return "✔";
  if (status === "unauthenticated") return "!";
  if (isBroken(status)) return "✖";
  return status === "disabled" ? "○" : "…";
}

function colorOf(status: string): "good" | "bad" | "faint" | "doubtful" {
  if (status === "running") return "good";
  if (isBroken(status)) return "bad";
  return status === "disabled" || status === "stopped" ? "faint" : "doubtful";
}

/** @example describe({ status: "running", tools: [tool] … }) // "1 tool" */
export function describe({ status, stage, install, error, tools, since }: Omit<Startup, "name" | "kind">): string {
  if (status === "running") return count(tools?.length ?? 0, "tool");
  if (status === "starting") {
    const elapsed = since === undefined || since === null ? "" : ` (${span(Date.now() - Date.parse(since))})`;
    return stageInWords(stage ?? status, install) + elapsed;
  }
  if (error === undefined || error === null) return status;
  return summaryOf(error);
}

/** The same, with the command for a server that needs a login. */
export function describeWithFix(server: Omit<Startup, "name" | "kind">): string {
  const { error } = server;
  const isForPerson =
    error !== undefined && error !== null && (isLoginError(error) || error.kind === "ApprovalRequired");
  return isForPerson && error.hint !== undefined ? `${firstLine(error.message)}: ${error.hint}` : describe(server);
}

/** @example stageInWords("installing", { position: 3, total: 48 }) // "installing, 3 of 48" */
function stageInWords(stage: string, install: Startup["install"]): string {
  const words = stage === "queued" ? "waiting to be installed" : stage;
  return install === undefined || install === null || install.total === 1
    ? words
    : `${words}, ${install.position} of ${install.total}`;
}
