// Connections that the listener turned away, since a client sees only that its connection was reset: counted for
// `/metrics`, told in the status, and logged once for many.

/** Which limit was met. */
export interface ConnectionLimit {
  readonly kind: "descriptors" | "connections";
  readonly limit: number | undefined;
}

/** They come in bursts: the line in the log waits for the rest. */
const BATCH_MS = 500;
/** Between two lines in the log. */
const QUIET_MS = 60_000;

export class DroppedConnections {
  readonly #onWarning: (message: string) => void;
  #total = 0;
  #told = 0;
  #last: { readonly limit: ConnectionLimit; readonly at: Date } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #quietUntil = 0;

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
    const waitMs = Math.max(BATCH_MS, this.#quietUntil - performance.now());
    this.#timer ??= setTimeout(() => this.#tell(limit), waitMs).unref();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #tell(limit: ConnectionLimit): void {
    this.#timer = undefined;
    this.#quietUntil = performance.now() + QUIET_MS;
    const untold = this.#total - this.#told;
    this.#told = this.#total;
    this.#onWarning(describe(untold, limit));
  }
}

function describe(count: number, { kind, limit }: ConnectionLimit): string {
  const what = count === 1 ? "1 connection was turned away" : `${count} connections were turned away`;
  if (kind === "connections") return `${what}: ${limit} were open, and the hub takes no more`;
  const which = limit === undefined ? "its limit of open files" : `its limit of ${limit} open files`;
  return `${what}: the hub is close to ${which}. Raise it where the hub is started: ulimit -n 4096, or LimitNOFILE=4096 of a systemd unit`;
}
