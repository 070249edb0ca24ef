// What one reading of an export has found: events until they are handed on, and the counts for its report.

import type { ImportReport, SourceEvent } from "../source.ts";
import type { ChunkReader } from "./archive.ts";

/** Of one batch: small enough for one commit, large enough for its cost. */
const BATCH_EVENTS = 1000;
/** The first ones say what is wrong; the rest is a number. */
const MAX_PROBLEMS = 10;
const MAX_PROBLEM_CHARS = 300;

export class Reading {
  readonly #chats = new Set<string>();
  #messages = 0;
  #skipped = 0;
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

  /** What is ready to be handed on: whole batches, and at the end what is left. */
  *take({ all }: { readonly all: boolean } = { all: false }): Generator<readonly SourceEvent[]> {
    const least = all ? 1 : BATCH_EVENTS;
    while (this.#events.length >= least) {
      const batch = this.#events.slice(0, BATCH_EVENTS);
      this.#events = this.#events.slice(BATCH_EVENTS);
      yield batch;
    }
  }

  /** Something could not be read. */
  skip(where: string, why: string): void {
    this.#skipped++;
    this.flag(where, why);
  }

  /** Something was read, but is not what was written. */
  flag(where: string, why: string): void {
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push(`${where}: ${why}`.slice(0, MAX_PROBLEM_CHARS));
  }

  /** What reads the bytes of a member needs to know. */
  reader(signal: AbortSignal): ChunkReader {
    return { signal, onDamage: (why) => this.skip("the end", why) };
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
    };
  }
}
