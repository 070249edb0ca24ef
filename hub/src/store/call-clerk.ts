// Who has the call log's database: enters what the hub writes into its journal, answers queries, prunes. One thing at a time,
// in the order in which it was asked for. Lives in a thread of its own (call-worker.ts), told what to do by call-thread.ts.

import { toHubError } from "../errors.ts";
import { CallStore } from "./call-store.ts";
import type { FromThread, ThreadSettings, ToThread } from "./call-thread.ts";
import { Ingest } from "./ingest.ts";

/** Between attempts, where the database cannot be written. */
const RETRY_MS = 500;
/** Somebody may have been killed meanwhile whose log lives in the same folder. */
const LOOK_EVERY_MS = 600_000;

export class CallClerk {
  readonly #say: (message: FromThread) => void;
  readonly #store: CallStore;
  readonly #ingest: Ingest;
  readonly #looking: NodeJS.Timeout;
  /** Bytes that the hub has written to its journals by now, in all. */
  #written = 0;
  #retry: NodeJS.Timeout | undefined;
  #queue: Promise<void> = Promise.resolve();

  constructor({ path, folder, writer, retention }: ThreadSettings, say: (message: FromThread) => void) {
    const onWarning = (message: string) => say({ type: "warning", message });
    this.#say = say;
    this.#store = new CallStore(path, {
      retention,
      onWarning,
      onDegraded: (why) => say({ type: "degraded", why }),
    });
    this.#ingest = new Ingest({ folder, own: writer, store: this.#store, onWarning });
    this.#looking = setInterval(() => this.#next(() => this.#enterLeft()), LOOK_EVERY_MS);
  }

  /** `onClosed`: the last thing has been done. */
  receive(message: ToThread, onClosed: () => void): void {
    this.#next(async () => {
      await this.#act(message);
      if (message.type === "close" || message.type === "rest") onClosed();
    });
  }

  #next(work: () => Promise<void>): void {
    this.#queue = this.#queue.then(work);
  }

  async #act(message: ToThread): Promise<void> {
    switch (message.type) {
      case "more":
        this.#written = message.written;
        return this.#enterOwn();
      case "left":
        return this.#enterLeft();
      case "query":
        await this.#enterLeft();
        return this.#answer(message.id, () => this.#store.query(message.query));
      case "stats":
        await this.#enterLeft();
        return this.#answer(message.id, () => this.#store.stats(message.query));
      case "prune":
        return this.#answer(message.id, () => this.#store.prune(message.now));
      case "rest":
        return this.#rest();
      case "close":
        return this.#answer(message.id, () => this.#close());
    }
  }

  async #answer(id: number, work: () => Promise<unknown>): Promise<void> {
    try {
      this.#say({ type: "reply", id, value: await work() });
    } catch (error) {
      this.#say({ type: "reply", id, error: toHubError(error).toJSON() });
    }
  }

  async #close(): Promise<void> {
    // A process that was told to end has no time for a second attempt: somebody else will.
    await this.#ingest.enterOwn({ isLast: true }).catch(() => this.#ingest.leaveOwn());
    await this.#rest();
  }

  /** The journal goes on; whoever is next enters it from where this one came to. */
  async #rest(): Promise<void> {
    clearInterval(this.#looking);
    clearTimeout(this.#retry);
    await this.#store.close();
  }

  /** What cannot be entered stays in its journal, and is tried again. */
  async #enterOwn(): Promise<void> {
    const upTo = this.#written;
    clearTimeout(this.#retry);
    try {
      await this.#ingest.enterOwn();
      this.#say({ type: "entered", upTo });
    } catch {
      // Why is told by the store, once.
      this.#retry = setTimeout(() => this.#next(() => this.#enterOwn()), RETRY_MS);
    }
  }

  /** Nobody waits for these; the next look may have more luck. */
  async #enterLeft(): Promise<void> {
    await this.#ingest.enterLeft().catch(() => undefined);
  }
}
