// The hub's side of the thread that has the database: started when there is something to do, ended when there was nothing
// for a while, since an idle one takes a fifth of the hub's memory. Asked and told in messages.

import type { Worker } from "node:worker_threads";
import type { CallStatsQuery, ServerStats } from "../calls/call-stats.ts";
import type { CallPage, CallQuery } from "../calls/log.ts";
import { HubError, type ErrorBody } from "../errors.ts";
import type { Retention } from "./retention.ts";

export interface ThreadSettings {
  /** Of the database. */
  readonly path: string;
  /** Of the journals. */
  readonly folder: string;
  readonly writer: string;
  readonly retention: Retention;
}

export type ToThread =
  | { readonly type: "more"; readonly written: number }
  | { readonly type: "left" }
  | { readonly type: "query"; readonly id: number; readonly query: CallQuery }
  | { readonly type: "stats"; readonly id: number; readonly query: CallStatsQuery }
  | { readonly type: "prune"; readonly id: number; readonly now: number }
  | { readonly type: "rest" }
  | { readonly type: "close"; readonly id: number };

export type FromThread =
  | { readonly type: "entered"; readonly upTo: number }
  | { readonly type: "degraded"; readonly why: string | undefined }
  | { readonly type: "warning"; readonly message: string }
  | { readonly type: "reply"; readonly id: number; readonly value: unknown }
  | { readonly type: "reply"; readonly id: number; readonly error: ErrorBody };

export interface ThreadHandlers {
  /** All of the journal's first `upTo` bytes are in the database. */
  onEntered(upTo: number): void;
  onDegraded(why: string | undefined): void;
  onWarning(message: string): void;
}

/** A thread runs JavaScript only: the built file, wherever this one is run from (see build/programs.js). */
const WORKER = new URL("../../dist/bundle/call-worker.js", import.meta.url);

const REST_AFTER_MS = 30_000;

interface Waiting {
  resolve(value: unknown): void;
  reject(error: HubError): void;
}

export class CallThread {
  readonly #settings: ThreadSettings;
  readonly #handlers: ThreadHandlers;
  readonly #waiting = new Map<number, Waiting>();
  readonly #restAfterMs: number;
  #worker: Worker | undefined;
  /** The ends of those that were told to rest. */
  readonly #resting = new Set<Promise<unknown>>();
  #restTimer: NodeJS.Timeout | undefined;
  #lastId = 0;
  /** Bytes of the journal: told of, and entered. */
  #told = 0;
  #entered = 0;

  constructor(settings: ThreadSettings, handlers: ThreadHandlers, restAfterMs = REST_AFTER_MS) {
    this.#settings = settings;
    this.#handlers = handlers;
    this.#restAfterMs = restAfterMs;
  }

  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  tell(message: ToThread): void {
    this.#worker ??= this.#start();
    if (message.type === "more") this.#told = message.written;
    this.#restSoon();
    // eslint-disable-next-line unicorn/require-post-message-target-origin -- that is of windows
    this.#worker.postMessage(message);
  }

  async query(query: CallQuery): Promise<CallPage> {
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- what our own thread answers
    return (await this.#ask((id) => ({ type: "query", id, query }))) as CallPage;
  }

  async stats(query: CallStatsQuery): Promise<ServerStats[]> {
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- what our own thread answers
    return (await this.#ask((id) => ({ type: "stats", id, query }))) as ServerStats[];
  }

  async prune(now: number): Promise<number> {
    return Number(await this.#ask((id) => ({ type: "prune", id, now })));
  }

  /** Resolves when what was written is entered, or cannot be, and the thread has ended. */
  async close(): Promise<void> {
    await this.#ask((id) => ({ type: "close", id })).catch(() => undefined); // it has ended, then
    clearTimeout(this.#restTimer);
    await Promise.all([this.#worker?.terminate(), ...this.#resting]);
  }

  #restSoon(): void {
    clearTimeout(this.#restTimer);
    this.#restTimer = setTimeout(() => this.#rest(), this.#restAfterMs).unref();
  }

  #rest(): void {
    const worker = this.#worker;
    // What comes next from it is heard, and starts the clock again.
    if (worker === undefined || this.#waiting.size > 0 || this.#entered < this.#told) return;
    this.#worker = undefined;
    const ended = new Promise((resolve) => worker.once("exit", resolve));
    this.#resting.add(ended);
    void ended.then(() => this.#resting.delete(ended));
    const message: ToThread = { type: "rest" };
    // eslint-disable-next-line unicorn/require-post-message-target-origin -- that is of windows
    worker.postMessage(message);
  }

  #ask(message: (id: number) => ToThread): Promise<unknown> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.tell(message(id));
    });
  }

  #start(): Worker {
    // Loaded with the first thread: the start of a hub need not wait for it.
    const threads = process.getBuiltinModule("node:worker_threads");
    const worker = new threads.Worker(WORKER, { workerData: this.#settings, name: "plugboard call log" });
    // It keeps no process alive that has nothing else to do.
    worker.unref();
    worker.on("message", (message: FromThread) => this.#heard(message));
    worker.on("error", (error) => this.#handlers.onWarning(`The call log's thread failed: ${String(error)}`));
    worker.once("exit", () => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      for (const waiting of this.#waiting.values()) {
        waiting.reject(new HubError("DatabaseError", "The call log's thread has ended"));
      }
      this.#waiting.clear();
    });
    return worker;
  }

  #heard(message: FromThread): void {
    this.#restSoon();
    switch (message.type) {
      case "entered":
        this.#entered = message.upTo;
        return this.#handlers.onEntered(message.upTo);
      case "degraded":
        return this.#handlers.onDegraded(message.why);
      case "warning":
        return this.#handlers.onWarning(message.message);
      case "reply": {
        const waiting = this.#waiting.get(message.id);
        this.#waiting.delete(message.id);
        if ("error" in message) waiting?.reject(toError(message.error));
        else waiting?.resolve(message.value);
      }
    }
  }
}

function toError({ kind, message, field, detail, hint }: ErrorBody): HubError {
  const told = Object.entries({ field, detail, hint }).filter(([, text]) => text !== undefined);
  return new HubError(kind, message, Object.fromEntries(told));
}
