// A call log that is opened when it is first wanted: loading the database must not delay the hub's start, and a command
// that calls nothing must not pay for it.

import type { CallStatsQuery, ServerStats } from "../calls/call-stats.ts";
import type { CallEntry, CallLog, CallPage, CallQuery } from "../calls/log.ts";

export class LazyCallLog implements CallLog {
  readonly #open: () => Promise<CallLog>;
  #opening: Promise<CallLog> | undefined;
  #log: CallLog | undefined;

  constructor(open: () => Promise<CallLog>) {
    this.#open = open;
  }

  get degraded(): string | undefined {
    return this.#log?.degraded;
  }

  get lost(): number {
    return this.#log?.lost ?? 0;
  }

  append(entry: CallEntry): Promise<void> {
    return this.#log?.append(entry) ?? this.ready().then((log) => log.append(entry));
  }

  async query(query: CallQuery): Promise<CallPage> {
    return (await this.ready()).query(query);
  }

  async stats(query: CallStatsQuery): Promise<ServerStats[]> {
    return (await this.ready()).stats(query);
  }

  async prune(now?: number): Promise<number> {
    return (await this.ready()).prune(now);
  }

  /** One that was never opened is not opened to be closed. */
  async close(): Promise<void> {
    await (await this.#opening)?.close();
  }

  /** Opens it ahead of the first call. */
  async ready(): Promise<CallLog> {
    this.#opening ??= this.#open();
    this.#log = await this.#opening;
    return this.#log;
  }
}
