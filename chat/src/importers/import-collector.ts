// Collects the events of one import into batches, and the counts and problems for its report.

import type { ImportReport, SourceEvent } from "../model/source.ts";
import type { ChunkReader } from "./archive.ts";

/** Batch size: one commit per batch. */
const BATCH_EVENTS = 1000;
/** Only the first problems are listed; the rest is only counted. */
const MAX_PROBLEMS = 10;
const MAX_PROBLEM_CHARS = 300;

export const TRUNCATED = "the file ends here unexpectedly; everything before was read";

export class ImportCollector {
  readonly #chats = new Set<string>();
  #messages = 0;
  #skipped = 0;
  #isComplete = true;
  readonly #problems: string[] = [];
  readonly #notes: string[] = [];
  #events: SourceEvent[] = [];

  add(event: SourceEvent): void {
    if (event.type === "chat") this.#chats.add(event.chat.id);
    if (event.type === "message") {
      this.#messages++;
      this.#chats.add(event.message.chat);
    }
    this.#events.push(event);
  }

  get messages(): number {
    return this.#messages;
  }

  /** Full batches; with `all`, the remainder too. */
  *batches({ all }: { readonly all: boolean } = { all: false }): Generator<readonly SourceEvent[]> {
    const least = all ? 1 : BATCH_EVENTS;
    while (this.#events.length >= least) {
      const batch = this.#events.slice(0, BATCH_EVENTS);
      this.#events = this.#events.slice(BATCH_EVENTS);
      yield batch;
    }
  }

  /** Counts an item that could not be read. */
  skip(where: string, why: string): void {
    this.#skipped++;
    this.addProblem(where, why);
  }

  /** Reports a problem with an item that was read. */
  addProblem(where: string, why: string): void {
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push(`${where}: ${why}`.slice(0, MAX_PROBLEM_CHARS));
  }

  /** The file ends too early; everything before was read. */
  truncated(where: string, why: string): void {
    this.#isComplete = false;
    this.addProblem(where, why);
  }

  /** The file ends inside an item, which is skipped. */
  skipTruncated(where: string, why: string): void {
    this.#skipped++;
    this.truncated(where, why);
  }

  chunkReader(signal: AbortSignal): ChunkReader {
    return { signal, onDamage: (why) => this.skipTruncated("the end", why) };
  }

  note(text: string): void {
    this.#notes.push(text);
  }

  report(format: string): ImportReport {
    return {
      format,
      chats: this.#chats.size,
      messages: this.#messages,
      skipped: this.#skipped,
      problems: this.#problems,
      notes: this.#notes,
      complete: this.#isComplete,
    };
  }
}
