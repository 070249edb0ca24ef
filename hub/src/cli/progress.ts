// One line per server while it starts, on stderr: its stage and how long it has taken. Redrawn in place on a terminal;
// elsewhere one line when a server is up or has failed.

import type { Hub } from "../hub.ts";
import type { ManagedServer } from "../servers/server.ts";
import type { Status } from "../servers/status.ts";
import type { Io } from "./io.ts";
import { count, seconds, table } from "./output.ts";

const REDRAW_MS = 100;

export class Progress {
  readonly #hub: Hub;
  readonly #io: Io;
  readonly #live: boolean;
  readonly #startedAt = new Map<string, number>();
  readonly #tookMs = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #drawn = 0;

  constructor(hub: Hub, io: Io) {
    this.#hub = hub;
    this.#io = io;
    this.#live = io.stderr.isTTY === true && io.env["TERM"] !== "dumb";
  }

  /** Shows the servers until `settled`. */
  async show(settled: Promise<void>): Promise<void> {
    const onStatus = ({ server, status }: { server: string; status: Status }) => this.#note(server, status);
    for (const { name, status } of this.#hub.supervisor.servers) this.#note(name, status);
    this.#hub.events.on("server.status", onStatus);
    if (this.#live) this.#timer = setInterval(() => this.#draw(), REDRAW_MS);
    await settled;
    clearInterval(this.#timer);
    this.#hub.events.off("server.status", onStatus);
    if (this.#live) this.#draw();
  }

  #note(name: string, status: Status): void {
    if (status.state === "starting" && !this.#startedAt.has(name)) this.#startedAt.set(name, performance.now());
    const done = status.state === "running" || status.state === "error";
    if (!done || this.#tookMs.has(name)) return;
    this.#tookMs.set(name, performance.now() - (this.#startedAt.get(name) ?? performance.now()));
    if (!this.#live) this.#io.stderr.write(table([this.#row(this.#hub.supervisor.get(name))]));
  }

  #draw(): void {
    const lines = table(this.#hub.supervisor.servers.map((server) => this.#row(server)))
      .split("\n")
      .slice(0, -1);
    const width = this.#io.stderr.columns ?? 80;
    const up = this.#drawn === 0 ? "" : `\u001b[${this.#drawn}A`;
    this.#io.stderr.write(up + lines.map((line) => `\u001b[2K${line.slice(0, width - 1)}\n`).join(""));
    this.#drawn = lines.length;
  }

  #row({ name, status, config }: ManagedServer): string[] {
    const kind = config.transport.type === "stdio" ? config.transport.launcher : config.transport.type;
    const since = this.#startedAt.get(name);
    const tookMs = this.#tookMs.get(name) ?? (since === undefined ? 0 : performance.now() - since);
    return [`  ${mark(status)} ${name}`, kind, seconds(tookMs).padStart(5), describe(status)];
  }
}

function mark({ state }: Status): string {
  if (state === "running") return "✔";
  if (state === "error" || state === "disconnected") return "✖";
  return state === "disabled" ? "○" : "…";
}

/** @example describe({ state: "running", tools: ["a"], since: 0 }) // "1 tool" */
export function describe(status: Status): string {
  switch (status.state) {
    case "running":
      return count(status.tools.length, "tool");
    case "starting":
      return status.stage;
    case "error":
    case "disconnected": {
      const { message, detail } = status.error;
      const telling = tellingLine(detail ?? "");
      return telling === undefined ? message : `${message}: ${telling}`;
    }
    case "stopped":
    case "disabled":
      return status.state;
  }
}

/** The line of a server's stderr that says most: the only one, or the first that speaks of an error. */
function tellingLine(text: string): string | undefined {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.length === 1 ? lines[0] : lines.find((line) => /error/i.test(line));
}
