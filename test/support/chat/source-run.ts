// A source that runs, and all that it told. Waits are for events; a hang is the test's time-out.

import type { StoredMessage } from "../../../chat/src/query.ts";
import type { ChatSource, NativeMessage, SourceEvent, SourceState } from "../../../chat/src/source.ts";
import type { Timing } from "../../../chat/src/sources/timing.ts";
import { Recorder } from "./recorder.ts";

export interface RunOptions {
  readonly checkpoint?: Readonly<Record<string, string>>;
  readonly recorder?: Recorder;
  readonly holdPauses?: boolean;
  /** It is told to end when it has handed over so many batches. */
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

  /** Whether nothing went wrong: each time that it was opened, it connected, and that was all. */
  isSteady(): boolean {
    const expected = Array.from({ length: this.#openings }, () => ["connecting", "connected"]).flat();
    return JSON.stringify(this.statuses()) === JSON.stringify(expected);
  }

  /** For the so manieth time. */
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

  /** As the store has it. */
  stored(content: string): Promise<StoredMessage> {
    return this.arrival(content, () => this.recorder.stored().find((message) => message.content === content));
  }

  /** Comes by itself where the source streams; another one is opened again, and has it then, or never. */
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

  /** What there is now is read, where it does not come by itself. */
  async look(): Promise<void> {
    if (this.source.capabilities.stream) return;
    await this.#ended;
    this.#ended = this.#open(this.recorder.checkpoint);
    await this.#ended;
  }

  /** Resolves when it has ended, by itself or because it was told to. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Ends within the test's time, or the test fails. */
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

  /** Pauses are noted, and over in no time; or stay until the end. */
  #timing(holdPauses: boolean): Timing {
    return {
      chance: () => 0.5,
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
