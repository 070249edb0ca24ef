// Matches the answers of many calls on one stream.

import { idOf } from "./message.ts";

interface Waiting {
  readonly onAnswer: (answer: Buffer) => void;
  readonly onFailure: (error: Error) => void;
}

export class Replies {
  readonly #waiting = new Map<number, Waiting>();
  #failure: Error | undefined;

  expect(id: number, onAnswer: (answer: Buffer) => void, onFailure: (error: Error) => void): void {
    if (this.#failure === undefined) this.#waiting.set(id, { onAnswer, onFailure });
    else onFailure(this.#failure);
  }

  take(answer: Buffer): void {
    const id = idOf(answer);
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    if (id === undefined || waiting === undefined) return;
    this.#waiting.delete(id);
    waiting.onAnswer(answer);
  }

  /** The stream has ended: all open calls fail. */
  fail(error: Error): void {
    this.#failure ??= error;
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { onFailure } of all) onFailure(error);
  }
}
