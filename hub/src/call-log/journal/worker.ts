// The worker thread of the call log: ingests the journals, answers queries, prunes. It handles one message at a time, in order,
// so that no database is used on the thread that serves calls.

import { setPriority } from "node:os";
import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import { toHubError } from "../../errors.ts";
import { Ingest } from "./ingest.ts";
import type { CallStore, CallStoreOptions } from "./call-store.ts";
import { BUILD_ID, type FromWorker, type Request, type ToWorker, type WorkerData } from "./worker-client.ts";

const RETRY_MS = 500;
/** Other hubs that share the folder may be killed at any time. */
const ORPHANS_EVERY_MS = 600_000;
/** If both threads share a core, calls have priority: lines in the journal are safe. */
const NICE = 5;

class CallLogWorker {
  readonly #port: MessagePort;
  readonly #store: CallStore;
  readonly #ingest: Ingest;
  readonly #orphanTimer: NodeJS.Timeout;
  /** Bytes that the main thread has written to its journals. */
  #written = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #queue: Promise<void> = Promise.resolve();

  constructor(
    port: MessagePort,
    { folder, writer, retention }: WorkerData,
    createStore: (options: CallStoreOptions) => CallStore,
  ) {
    const onWarning = (message: string) => this.#post({ type: "warning", message });
    const onDegraded = (reason: string | undefined) => this.#post({ type: "degraded", reason });
    this.#port = port;
    this.#store = createStore({ retention, onWarning, onDegraded });
    this.#ingest = new Ingest({ folder, own: writer, store: this.#store, onWarning });
    this.#orphanTimer = setInterval(() => this.#enqueue(() => this.#ingestOrphans()), ORPHANS_EVERY_MS);
  }

  receive(message: ToWorker): void {
    this.#enqueue(() => this.#handle(message));
  }

  #enqueue(work: () => Promise<void>): void {
    this.#queue = this.#queue.then(work);
  }

  async #handle(message: ToWorker): Promise<void> {
    switch (message.type) {
      case "ingest":
        this.#written = message.written;
        return this.#ingestOwn();
      case "ingestOrphans":
        return this.#ingestOrphans();
      case "retain":
        return this.#store.retain(message.retention);
      case "stop":
        await this.#stop();
        return this.#port.close();
      case "scrub":
      case "query":
      case "summaries":
      case "count":
      case "series":
      case "stats":
      case "deleteBefore":
        // Not awaited: it may take long, with pauses for other messages.
        void this.#reply(message);
        return;
      case "close":
        await this.#reply(message);
        return this.#port.close();
      case "neighbours":
      case "usage":
      case "prune":
        return this.#reply(message);
    }
  }

  async #reply(request: Request): Promise<void> {
    const { id } = request;
    try {
      this.#post({ type: "reply", id, output: await this.#answer(request) });
    } catch (error) {
      this.#post({ type: "reply", id, error: toHubError(error).toJSON() });
    }
  }

  async #answer(request: Request): Promise<unknown> {
    switch (request.type) {
      case "query":
        await this.#ingestOrphans();
        return this.#store.query(request.input);
      case "summaries":
        await this.#ingestOrphans();
        return this.#store.summaries(request.input);
      case "count":
        await this.#ingestOrphans();
        return this.#store.count(request.input);
      case "neighbours":
        return this.#store.neighbours(request.input);
      case "series":
        await this.#ingestOrphans();
        return this.#store.series(request.input);
      case "deleteBefore":
        await this.#ingestOrphans();
        return this.#store.deleteBefore(request.input);
      case "stats":
        await this.#ingestOrphans();
        return this.#store.stats(request.input);
      case "usage":
        return this.#store.usage();
      case "prune":
        return this.#store.prune(request.input);
      case "scrub":
        return this.#store.scrub();
      case "close":
        // The process is about to end: if it fails now, another process ingests the journal.
        await this.#ingest.ingestOwn({ isLast: true }).catch(() => this.#ingest.abandonOwn());
        return this.#stop();
    }
  }

  async #stop(): Promise<void> {
    clearInterval(this.#orphanTimer);
    clearTimeout(this.#retryTimer);
    await this.#store.close();
  }

  async #ingestOwn(): Promise<void> {
    const upTo = this.#written;
    clearTimeout(this.#retryTimer);
    try {
      await this.#ingest.ingestOwn();
      this.#post({ type: "ingested", upTo });
    } catch {
      // The store reports the reason. The lines stay in the journal.
      this.#retryTimer = setTimeout(() => this.#enqueue(() => this.#ingestOwn()), RETRY_MS);
    }
  }

  async #ingestOrphans(): Promise<void> {
    await this.#ingest.ingestOrphans().catch(() => undefined); // tried again at the next query
  }

  #post(message: FromWorker): void {
    // eslint-disable-next-line unicorn/require-post-message-target-origin -- a worker, not a window
    this.#port.postMessage(message);
  }
}

/** Called by the program of a thread, which knows the form of the address that the main thread gives it. */
export function runWorker(createStore: (address: unknown, options: CallStoreOptions) => CallStore): void {
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- set by worker-client.ts
  const data = workerData as WorkerData;
  if (parentPort === null) throw new Error("This file runs only as a worker thread of the hub");
  if (data.buildId !== undefined && data.buildId !== BUILD_ID) {
    throw new Error("The files of the hub were replaced since it started: plugboard restart");
  }
  // Only on Linux does this apply to the thread instead of the process.
  if (process.platform === "linux") setPriority(NICE);
  const worker = new CallLogWorker(parentPort, data, (options) => createStore(data.address, options));
  parentPort.on("message", (message: ToWorker) => worker.receive(message));
}
