// Counts connections that the listener dropped, for `/metrics` and the status, and logs them in batches. A client only sees a
// reset.

export interface ConnectionLimit {
  readonly kind: "descriptors" | "connections";
  readonly limit: number | undefined;
}

/** Delay of a log line: drops come in bursts. */
const BATCH_MS = 500;
/** Interval between two log lines. */
const LOG_INTERVAL_MS = 60_000;

export class DroppedConnections {
  readonly #onWarning: (message: string) => void;
  #total = 0;
  #logged = 0;
  #last: { readonly limit: ConnectionLimit; readonly at: Date } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #nextLogAt = 0;

  constructor(onWarning: (message: string) => void) {
    this.#onWarning = onWarning;
  }

  get total(): number {
    return this.#total;
  }

  get warnings(): string[] {
    if (this.#last === undefined) return [];
    const { limit, at } = this.#last;
    return [`${describe(this.#total, limit)} (the last one at ${at.toISOString()})`];
  }

  count(limit: ConnectionLimit): void {
    this.#total++;
    this.#last = { limit, at: new Date() };
    const delayMs = Math.max(BATCH_MS, this.#nextLogAt - performance.now());
    this.#timer ??= setTimeout(() => this.#log(limit), delayMs).unref();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #log(limit: ConnectionLimit): void {
    this.#timer = undefined;
    this.#nextLogAt = performance.now() + LOG_INTERVAL_MS;
    const unlogged = this.#total - this.#logged;
    this.#logged = this.#total;
    this.#onWarning(describe(unlogged, limit));
  }
}

function describe(count: number, { kind, limit }: ConnectionLimit): string {
  const what = count === 1 ? "1 connection was dropped" : `${count} connections were dropped`;
  if (kind === "connections") return `${what}: the limit of ${limit} open connections was reached`;
  const which = limit === undefined ? "its limit of open files" : `its limit of ${limit} open files`;
  return `${what}: the hub has nearly reached ${which}. Raise it for the hub: ulimit -n 4096, or LimitNOFILE=4096 in its systemd unit`;
}
