// When the thread is told to enter what was written to the journal: soon, in bulk while the hub has much to do, at once for whoever
// asks. Until then calls are as safe in the journal; what it takes in one go costs less than one by one.

/** The thread is told of new calls so often at most. */
const ENTER_EVERY_MS = 250;
/**
 * While this thread has much to do, the time of a core that both may share is left to calls: the other one waits until so much has
 * come together, of which each call takes it half as long. Whoever asks for calls then waits for some tenths of a second.
 */
const BULK_BYTES = 16 << 20;
/** A thread that does not run is started for so many bytes, or after this time. */
const WAKE_BYTES = 64 << 10;
const WAKE_AFTER_MS = 10_000;

export interface EnteringOptions {
  /** Whether there is a thread to tell. */
  readonly isRunning: () => boolean;
  /** Whether this thread had much to do since it was asked last. */
  readonly isBusy: () => boolean;
  /** Has the thread enter all that is written. */
  readonly enter: () => void;
  /** How long calls may wait for the thread to be started. */
  readonly wakeAfterMs?: number | undefined;
}

export class Entering {
  readonly #options: EnteringOptions;
  /** Bytes, of all journals. */
  #written = 0;
  #told = 0;
  #entered = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: EnteringOptions) {
    this.#options = options;
  }

  get written(): number {
    return this.#written;
  }

  /** Bytes that are written and not entered yet. */
  get behind(): number {
    return this.#written - this.#entered;
  }

  wrote(bytes: number): void {
    this.#written += bytes;
  }

  entered(upTo: number): void {
    this.#entered = upTo;
  }

  soon(): void {
    if (this.#written === this.#told) return;
    const { isRunning, wakeAfterMs = WAKE_AFTER_MS } = this.#options;
    if (!isRunning() && this.behind > WAKE_BYTES) return this.now();
    this.#timer ??= setTimeout(() => this.#unlessBusy(), isRunning() ? ENTER_EVERY_MS : wakeAfterMs).unref();
  }

  now(): void {
    this.stop();
    this.#options.enter();
    this.#told = this.#written;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #unlessBusy(): void {
    if (!this.#options.isBusy() || this.behind > BULK_BYTES) return this.now();
    this.#timer = setTimeout(() => this.#unlessBusy(), ENTER_EVERY_MS).unref();
  }
}
