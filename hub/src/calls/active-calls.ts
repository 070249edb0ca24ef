// The tool calls that are under way. Every call enters and leaves, so it holds the objects that calls have anyway.

import type { RunningCall } from "../events.ts";
import { Cancellable } from "../lib/cancellation.ts";
import type { Call } from "./call.ts";

export class ActiveCalls {
  readonly #calls = new Set<Call>();
  #lastNumber = 0;

  add(call: Call): void {
    call.number = ++this.#lastNumber;
    this.#calls.add(call);
  }

  delete(call: Call): void {
    this.#calls.delete(call);
  }

  /** Oldest first. */
  list(): RunningCall[] {
    return [...this.#calls];
  }

  /** Cancels a call: its caller gets an error. Returns false if it is not under way. */
  cancel(id: string): boolean {
    for (const call of this.#calls) {
      const { signal } = call.request;
      if (call.activeId === id && signal instanceof Cancellable) {
        signal.overrule();
        return true;
      }
    }
    return false;
  }
}
