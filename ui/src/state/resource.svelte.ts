// Something that is read from the hub while a screen shows it, and read again when an event says that it may have changed.

import { Problem } from "../lib/hub/api.ts";
import { live } from "./live.svelte.ts";

/** Many events in a row lead to one request. */
const AGAIN_MS = 300;

interface Options {
  /** Events after which it is read again. */
  readonly events?: readonly string[];
}

export class Resource<T> {
  value: T | undefined = $state.raw();
  problem: Problem | undefined = $state.raw();
  /** When the value was read. */
  readAt: number | undefined = $state();
  readonly #read: (signal: AbortSignal) => Promise<T>;
  readonly #events: readonly string[];
  #abort: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(read: (signal: AbortSignal) => Promise<T>, { events = [] }: Options = {}) {
    this.#read = read;
    this.#events = events;
  }

  /** `$effect(() => resource.use())` */
  use(): () => void {
    const soon = (): void => {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        void this.reload();
      }, AGAIN_MS);
    };
    const offs = [...this.#events.map((event) => live.on(event, soon)), live.onFresh(soon)];
    void this.reload();
    return () => {
      for (const off of offs) off();
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#abort?.abort();
    };
  }

  /** Reads now. The value of before stays until the new one is there. */
  readonly reload = async (): Promise<void> => {
    this.#abort?.abort();
    const abort = new AbortController();
    this.#abort = abort;
    try {
      const value = await this.#read(abort.signal);
      if (abort.signal.aborted) return;
      this.value = value;
      this.readAt = Date.now();
      this.problem = undefined;
    } catch (error) {
      if (abort.signal.aborted) return;
      if (!(error instanceof Problem)) throw error;
      this.problem = error;
    }
  };
}
