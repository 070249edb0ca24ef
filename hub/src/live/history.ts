// What happened to each server in the last seven days: its states and those of its circuit breaker. Kept in a small file, so that it
// survives restarts of the hub.

import { readFile } from "node:fs/promises";
import * as z from "zod/mini";
import type { HubEvents } from "../events.ts";
import { writeFileAtomic } from "../lib/files/atomic.ts";
import { errorOf, type Status } from "../servers/status.ts";

const MAX_AGE_MS = 7 * 24 * 3_600_000;
/** Of all servers together. */
const MAX_ENTRIES = 5000;
const MAX_REASON = 300;
const SAVE_AFTER_MS = 5000;

const entry = z.object({
  server: z.string(),
  at: z.number(),
  status: z.enum(["stopped", "starting", "running", "error", "disabled", "disconnected", "unauthenticated"]),
  stage: z.nullable(z.string()),
  circuit: z.enum(["closed", "open", "half-open"]),
  reason: z.nullable(z.string()),
  pid: z.nullable(z.number()),
});
type Entry = z.infer<typeof entry>;
export type HistoryEntry = Readonly<Omit<Entry, "server">> & {
  /** Null: it lasts until now. */
  readonly durationMs: number | null;
};

export interface LiveHistoryOptions {
  readonly events: HubEvents;
  /** Undefined: only in memory. */
  readonly path: string | undefined;
  readonly pidOf: (server: string) => number | undefined;
  readonly onWarning: (message: string) => void;
}

export class LiveHistory {
  readonly #options: LiveHistoryOptions;
  /** Oldest first. */
  #entries: Entry[] = [];
  /** The newest of each server. */
  readonly #last = new Map<string, Entry>();
  #saveTimer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();
  #hasWarned = false;

  constructor(options: LiveHistoryOptions) {
    this.#options = options;
    options.events.on("server.status", ({ server, status }) => this.#onStatus(server, status));
    options.events.on("server.circuit", ({ server, breaker }) => {
      const last = this.#last.get(server);
      if (last !== undefined && last.circuit !== breaker.state) this.#add({ ...last, circuit: breaker.state });
    });
  }

  /** Reads the file of an earlier run. An unreadable file is an empty history. */
  async load(): Promise<void> {
    const { path } = this.#options;
    if (path === undefined) return;
    const text = await readFile(path, "utf8").catch(() => "[]");
    const parsed = z.array(entry).safeParse(parse(text));
    this.#entries = [...(parsed.success ? parsed.data : []), ...this.#entries];
  }

  /** Oldest first, beginning with the state that held at `since`. */
  of(server: string, since = 0): HistoryEntry[] {
    const own = this.#entries.filter((each) => each.server === server);
    return own
      .map(({ at, status, stage, circuit, reason, pid }, index) => {
        const next = own[index + 1];
        return { at, status, stage, circuit, reason, pid, durationMs: next === undefined ? null : next.at - at };
      })
      .filter(({ at, durationMs }) => durationMs === null || at + durationMs > since);
  }

  /** Resolves when everything is on disk. */
  async close(): Promise<void> {
    if (this.#saveTimer !== undefined) this.#save();
    await this.#saving;
  }

  #onStatus(server: string, status: Status): void {
    const last = this.#last.get(server);
    const stage = status.state === "starting" ? status.stage : null;
    if (last?.status === status.state) {
      // A start keeps one entry, with the stage that it reached.
      if (stage !== null) last.stage = stage;
      return;
    }
    this.#add({
      server,
      at: Date.now(),
      status: status.state,
      stage,
      circuit: last?.circuit ?? "closed",
      reason: errorOf(status)?.message.slice(0, MAX_REASON) ?? null,
      pid: this.#options.pidOf(server) ?? null,
    });
  }

  #add(added: Entry): void {
    const now = { ...added, at: Date.now() };
    this.#last.set(now.server, now);
    this.#entries.push(now);
    if (this.#entries.length > MAX_ENTRIES * 1.1) this.#entries = this.#entries.slice(-MAX_ENTRIES);
    if (this.#options.path !== undefined) this.#saveTimer ??= setTimeout(() => this.#save(), SAVE_AFTER_MS).unref();
  }

  #save(): void {
    const { path, onWarning } = this.#options;
    clearTimeout(this.#saveTimer);
    this.#saveTimer = undefined;
    if (path === undefined) return;
    const oldest = Date.now() - MAX_AGE_MS;
    this.#entries = this.#entries.filter(({ at }) => at >= oldest);
    const text = JSON.stringify(this.#entries);
    this.#saving = this.#saving
      .then(() => writeFileAtomic(path, text, { mode: 0o600 }))
      .catch((error: unknown) => {
        if (!this.#hasWarned) onWarning(`The history of servers cannot be saved to ${path}: ${String(error)}`);
        this.#hasWarned = true;
      });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
