// Runs a source and records its events and states. Waits for events; a hang ends in the test's timeout.

import type { StoredMessage } from "../../../chat/src/model/store-port.ts";
import type { ChatSource, NativeMessage, SourceEvent, SourceState } from "../../../chat/src/model/source.ts";
import type { Timing } from "../../../chat/src/sources/backoff.ts";
import { Recorder } from "./recorder.ts";

export interface RunOptions {
  readonly checkpoint?: Readonly<Record<string, string>>;
  readonly recorder?: Recorder;
  readonly holdPauses?: boolean;
  /** Stops the source after this number of batches. */
  readonly endAfter?: number;
}

export class Run {
  readonly recorder: Recorder;
  readonly states: SourceState[] = [];
  readonly pauses: number[] = [];
  readonly logged: string[] = [];
  readonly source: ChatSource;
  readonly #stop = new AbortController();
  readonly #endAfter: number;
  #openings = 0;
  #ended: Promise<void>;

  constructor(
    create: (timing: Timing) => ChatSource,
    { checkpoint = {}, recorder = new Recorder(), holdPauses = false, endAfter = Infinity }: RunOptions = {},
  ) {
    this.recorder = recorder;
    this.#endAfter = endAfter;
    this.source = create(this.#timing(holdPauses));
    this.#ended = this.#open(checkpoint);
  }

  get chats(): Recorder["chats"] {
    return this.recorder.chats;
  }

  get people(): Recorder["people"] {
    return this.recorder.people;
  }

  statuses(): string[] {
    return this.states.map(({ status }) => status);
  }

  /** Whether every run connected without an error. */
  isSteady(): boolean {
    const expected = Array.from({ length: this.#openings }, () => ["connecting", "connected"]).flat();
    return JSON.stringify(this.statuses()) === JSON.stringify(expected);
  }

  /** The n-th occurrence. */
  connected(times = 1): Promise<true> {
    return this.recorder.until(
      () => this.statuses().filter((status) => status === "connected").length >= times || undefined,
    );
  }

  state(status: SourceState["status"]): Promise<SourceState> {
    return this.recorder.until(() => this.states.find((state) => state.status === status));
  }

  message(content: string): Promise<NativeMessage> {
    return this.arrival(content, () => this.recorder.message(content));
  }

  event<T extends SourceEvent["type"]>(
    type: T,
    matches: (event: Extract<SourceEvent, { type: T }>) => boolean,
  ): Promise<Extract<SourceEvent, { type: T }>> {
    const isWanted = (event: SourceEvent): event is Extract<SourceEvent, { type: T }> =>
      event.type === type && matches(event as Extract<SourceEvent, { type: T }>);
    return this.arrival(type, () => this.recorder.events.find(isWanted));
  }

  /** From the store. */
  stored(content: string): Promise<StoredMessage> {
    return this.arrival(content, () => this.recorder.stored().find((message) => message.content === content));
  }

  /** Waits if the source streams; otherwise opens the source again and expects the message. */
  async arrival<T>(what: string, find: () => T | undefined): Promise<T> {
    if (this.source.capabilities.stream) return this.recorder.until(find);
    await this.#ended;
    const known = find();
    if (known !== undefined) return known;
    await this.look();
    const found = find();
    if (found === undefined) throw new Error(`The source was opened again, and did not tell of: ${what}`);
    return found;
  }

  /** Opens a source without a stream again, so that it reads the current content. */
  async look(): Promise<void> {
    if (this.source.capabilities.stream) return;
    await this.#ended;
    this.#ended = this.#open(this.recorder.checkpoint);
    await this.#ended;
  }

  /** Resolves when the source has ended. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  #open(checkpoint: Readonly<Record<string, string>>): Promise<void> {
    this.#openings++;
    return this.source.run({
      sink: async (batch) => {
        await this.recorder.take(batch);
        if (this.recorder.batchSizes.length >= this.#endAfter) this.#stop.abort();
      },
      checkpoint,
      onState: (state) => {
        this.states.push(state);
        this.recorder.changed();
      },
      signal: this.#stop.signal,
      log: { info: (text) => this.logged.push(text), warn: (text) => this.logged.push(text) },
      now: Date.now,
    });
  }

  /** Records delays, and skips them or keeps them until the end. */
  #timing(holdPauses: boolean): Timing {
    return {
      random: () => 0.5,
      pause: (ms, signal) => {
        this.pauses.push(ms);
        return new Promise((resolve) => {
          if (!holdPauses) setTimeout(resolve, 20);
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
      },
    };
  }
}
