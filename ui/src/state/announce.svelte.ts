// What screen readers hear: two live regions in the shell, one sentence every two seconds at most.

const PAUSE_MS = 2000;
/** Older news is not worth hearing. */
const MAX_WAITING = 3;

class Announcer {
  polite = $state("");
  assertive = $state("");
  #waiting: string[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  say(sentence: string): void {
    this.#waiting = [...this.#waiting, sentence].slice(-MAX_WAITING);
    if (this.#timer === undefined) this.#next();
  }

  /** At once: a question that work waits for. */
  interrupt(sentence: string): void {
    this.assertive = sentence;
  }

  #next(): void {
    const [sentence, ...rest] = this.#waiting;
    this.#waiting = rest;
    this.#timer = undefined;
    if (sentence === undefined) return;
    this.polite = sentence;
    this.#timer = setTimeout(() => this.#next(), PAUSE_MS);
  }
}

export const announcer = new Announcer();
