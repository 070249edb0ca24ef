// The main thread's side of the worker thread that owns the database. The thread is started on demand and stopped when idle,
// because it takes 14 MB.

import type { Worker } from "node:worker_threads";
import { HubError, type ErrorBody } from "../../errors.ts";
import { packagePath } from "../../lib/package-path.ts";
import type { CallCount, CallLogUsage, CallNeighbours, CallPage, CallQuery, CallSummaryPage } from "../port.ts";
import type { Retention } from "../port.ts";
import type { CallSeries, SeriesQuery } from "../series.ts";
import type { CallStatsQuery, ServerStats } from "../stats.ts";

const IDLE_MS = 30_000;

/** Set by the bundler to a hash of the sources; not defined in modules that tsc compiled. */
declare const PLUGBOARD_BUILD_ID: string | undefined;
export const BUILD_ID = typeof PLUGBOARD_BUILD_ID === "undefined" ? undefined : PLUGBOARD_BUILD_ID;

export interface WorkerSettings {
  /** Of the database, as the worker's program understands it. */
  readonly address: unknown;
  /** The folder of the journals. */
  readonly folder: string;
  readonly writer: string;
  readonly retention: Retention;
}

export interface WorkerData extends WorkerSettings {
  /** The build of the main thread; undefined if that is not bundled. */
  readonly buildId: string | undefined;
}

/** The requests to the worker, with their results. */
export interface Requests {
  readonly query: { readonly input: CallQuery; readonly output: CallPage };
  readonly summaries: { readonly input: CallQuery; readonly output: CallSummaryPage };
  readonly count: { readonly input: CallQuery; readonly output: CallCount };
  readonly neighbours: { readonly input: number; readonly output: CallNeighbours | undefined };
  readonly series: { readonly input: SeriesQuery; readonly output: CallSeries };
  readonly deleteBefore: { readonly input: number; readonly output: number };
  readonly stats: { readonly input: CallStatsQuery; readonly output: ServerStats[] };
  readonly usage: { readonly input: undefined; readonly output: CallLogUsage };
  readonly prune: { readonly input: number; readonly output: number };
  readonly scrub: { readonly input: undefined; readonly output: void };
  /** Ingests the rest of the journal and ends the thread. */
  readonly close: { readonly input: undefined; readonly output: void };
}

export type Request = {
  [K in keyof Requests]: { readonly type: K; readonly id: number; readonly input: Requests[K]["input"] };
}[keyof Requests];

export type ToWorker =
  | Request
  /** `written`: bytes of all journals of this process. */
  | { readonly type: "ingest"; readonly written: number }
  | { readonly type: "ingestOrphans" }
  | { readonly type: "retain"; readonly retention: Retention }
  /** Ends the thread; another one continues with the journal. */
  | { readonly type: "stop" };

export type FromWorker =
  | { readonly type: "ingested"; readonly upTo: number }
  | { readonly type: "degraded"; readonly reason: string | undefined }
  | { readonly type: "warning"; readonly message: string }
  | { readonly type: "reply"; readonly id: number; readonly output: unknown }
  | { readonly type: "reply"; readonly id: number; readonly error: ErrorBody };

export interface WorkerHandlers {
  /** The first `upTo` bytes of the journals are in the database. */
  onIngested(upTo: number): void;
  onDegraded(reason: string | undefined): void;
  onWarning(message: string): void;
}

/** The programs of the thread, one for each kind of database: as tsc compiles them, and bundled. */
const WORKERS = {
  sqlite: { compiled: "../sqlite/worker.js", bundled: "dist/bundle/call-worker.js" },
  postgres: { compiled: "../../database/call-log/worker.js", bundled: "dist/bundle/pg-call-worker.js" },
} as const;
export type WorkerName = keyof typeof WORKERS;

/**
 * The program of the thread. Modules compiled by tsc use the one from the same compilation, so that `tsc -b` alone never combines
 * a new main thread with the worker of an old bundle. Sources run only in tests, which bundle first.
 */
export function workerFile(moduleUrl: string, name: WorkerName): URL | string {
  const { compiled, bundled } = WORKERS[name];
  return moduleUrl.endsWith("/call-log/journal/worker-client.js") ? new URL(compiled, moduleUrl) : packagePath(bundled);
}

interface Pending {
  resolve(output: unknown): void;
  reject(error: HubError): void;
}

export class WorkerClient {
  readonly #name: WorkerName;
  #settings: WorkerSettings;
  readonly #handlers: WorkerHandlers;
  readonly #idleMs: number;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | undefined;
  /** Exits of threads that are stopping. */
  readonly #stopping = new Set<Promise<unknown>>();
  #idleTimer: NodeJS.Timeout | undefined;
  #lastId = 0;
  /** Bytes of the journals: announced to the worker, and ingested by it. */
  #announced = 0;
  #ingested = 0;

  constructor(name: WorkerName, settings: WorkerSettings, handlers: WorkerHandlers, idleMs = IDLE_MS) {
    this.#name = name;
    this.#settings = settings;
    this.#handlers = handlers;
    this.#idleMs = idleMs;
  }

  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  post(message: ToWorker): void {
    this.#worker ??= this.#start();
    if (message.type === "ingest") this.#announced = message.written;
    this.#restartIdleTimer();
    // eslint-disable-next-line unicorn/require-post-message-target-origin -- a worker, not a window
    this.#worker.postMessage(message);
  }

  /** For the running thread and those that follow. */
  retain(retention: Retention): void {
    this.#settings = { ...this.#settings, retention };
    if (this.isRunning) this.post({ type: "retain", retention });
  }

  request<K extends keyof Requests>(type: K, input: Requests[K]["input"]): Promise<Requests[K]["output"]> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      // eslint-disable-next-line typescript/no-unsafe-type-assertion -- the worker answers by the same table
      this.#pending.set(id, { resolve: (output) => resolve(output as Requests[K]["output"]), reject });
      // eslint-disable-next-line typescript/no-unsafe-type-assertion -- type and input belong together
      this.post({ type, id, input } as Request);
    });
  }

  /** Resolves when the journal is ingested, or cannot be, and the thread has ended. */
  async close(): Promise<void> {
    await this.request("close", undefined).catch(() => undefined); // the thread has ended already
    clearTimeout(this.#idleTimer);
    await Promise.all([this.#worker?.terminate(), ...this.#stopping]);
  }

  #restartIdleTimer(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => this.#stopIdle(), this.#idleMs).unref();
  }

  #stopIdle(): void {
    const worker = this.#worker;
    // Any message of the worker restarts the timer.
    if (worker === undefined || this.#pending.size > 0 || this.#ingested < this.#announced) return;
    this.#worker = undefined;
    const exit = new Promise((resolve) => worker.once("exit", resolve));
    this.#stopping.add(exit);
    void exit.then(() => this.#stopping.delete(exit));
    const message: ToWorker = { type: "stop" };
    // eslint-disable-next-line unicorn/require-post-message-target-origin -- a worker, not a window
    worker.postMessage(message);
  }

  #start(): Worker {
    // Loaded with the first thread: the start of a hub does not need it.
    const threads = process.getBuiltinModule("node:worker_threads");
    const workerData: WorkerData = { ...this.#settings, buildId: BUILD_ID };
    const worker = new threads.Worker(workerFile(import.meta.url, this.#name), {
      workerData,
      name: "plugboard call log",
    });
    // The thread alone keeps no process alive.
    worker.unref();
    worker.on("message", (message: FromWorker) => this.#onMessage(message));
    worker.on("error", (error) => {
      const reason = `The thread of the call log failed: ${error instanceof Error ? error.message : String(error)}`;
      this.#handlers.onDegraded(reason);
      this.#handlers.onWarning(reason);
    });
    worker.once("exit", () => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      const error = new HubError("DatabaseError", "The thread of the call log has ended");
      for (const pending of this.#pending.values()) pending.reject(error);
      this.#pending.clear();
    });
    return worker;
  }

  #onMessage(message: FromWorker): void {
    this.#restartIdleTimer();
    switch (message.type) {
      case "ingested":
        this.#ingested = message.upTo;
        return this.#handlers.onIngested(message.upTo);
      case "degraded":
        return this.#handlers.onDegraded(message.reason);
      case "warning":
        return this.#handlers.onWarning(message.message);
      case "reply": {
        const pending = this.#pending.get(message.id);
        this.#pending.delete(message.id);
        if ("error" in message) pending?.reject(toError(message.error));
        else pending?.resolve(message.output);
      }
    }
  }
}

function toError({ kind, message, field, detail, hint }: ErrorBody): HubError {
  const given = Object.entries({ field, detail, hint }).filter(([, text]) => text !== undefined);
  return new HubError(kind, message, Object.fromEntries(given));
}
