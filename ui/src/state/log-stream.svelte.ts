// The lines of a log: what the hub has kept, then every new line. At most so many are in memory.

import type { ServerLogged } from "$api/event.ts";
import type { LogLine } from "$api/log.ts";
import type { Logs, Server } from "$api/server.ts";
import { api, Problem } from "../lib/hub/api.ts";
import { backoffMs, sleep } from "../lib/hub/backoff.ts";
import { isShown, lineKey, shownHubLine, shownLine, type ShownLine, type Source } from "../lib/logs/lines.ts";
import { mergeLogs } from "../lib/logs/merge.ts";
import { LineRing } from "../lib/logs/ring.ts";
import { formatQuery, pathTo, withQuery } from "../lib/route.ts";

const KEPT = 20_000;
const TAIL = 300;
const TAIL_OF_ONE = 1000;

/** The hub's own log in the choice of servers. */
export const HUB = "@hub";

export interface FollowedLog {
  /** One server, the hub ("@hub"), or all (""). */
  readonly server: string;
  readonly source?: Source | undefined;
  /** Reads everything that the hub has kept of a server, and not only its last lines. */
  readonly isWhole?: boolean;
}

export class LogStream {
  lines: readonly ShownLine[] = $state.raw([]);
  problem: Problem | undefined = $state.raw();
  isRead = $state(false);
  dropped = $state(0);
  isPaused = $state(false);
  waitingCount = $state(0);
  #ring = new LineRing<ShownLine>(KEPT);
  #waiting: ShownLine[] = [];
  #frame: number | undefined;

  /** Follows a log until the returned function is called. */
  follow(log: FollowedLog): () => void {
    const abort = new AbortController();
    this.#ring = new LineRing(KEPT);
    this.#waiting = [];
    this.lines = [];
    this.dropped = 0;
    this.waitingCount = 0;
    this.isRead = false;
    void (log.server === HUB ? this.#pollHub(abort.signal) : this.#followServers(log, abort.signal));
    return () => {
      abort.abort();
      if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
      this.#frame = undefined;
    };
  }

  pause(isPaused: boolean): void {
    this.isPaused = isPaused;
    if (!isPaused) this.#flush();
  }

  async #followServers(log: FollowedLog, signal: AbortSignal): Promise<void> {
    for (let failures = 1; !signal.aborted; failures += 1) {
      const startedAt = performance.now();
      await this.#stream(log, signal).catch((error: unknown) => this.#failed(error, signal));
      if (performance.now() - startedAt > backoffMs(9)) failures = 1;
      if (!signal.aborted) await sleep(backoffMs(failures), signal);
    }
  }

  /** The stream first, then what was kept before it: no line falls in between, and none comes twice. */
  async #stream(log: FollowedLog, signal: AbortSignal): Promise<void> {
    let early: ShownLine[] | undefined = [];
    const readKept = async () => {
      const kept = mergeLogs(await this.#kept(log, signal), KEPT);
      const known = new Set(kept.map(lineKey));
      this.#replace([...kept, ...(early ?? []).filter((line) => !known.has(lineKey(line)))]);
      early = undefined;
    };
    let reading: Promise<void> | undefined;
    const onBytes = () => void (reading ??= readKept().catch((error: unknown) => this.#failed(error, signal)));
    const server = log.server === "" ? undefined : log.server;
    await api.stream(withQuery("/events", { topics: "log", server }), { signal, onBytes }, ({ event, data }) => {
      if (event !== "server.log") return;
      const line = shownLine(JSON.parse(data) as ServerLogged);
      if (!isShown(line, log.source)) return;
      if (early === undefined) this.#push(line);
      else early.push(line);
    });
    await reading;
  }

  async #kept({ server, source, isWhole = false }: FollowedLog, signal: AbortSignal): Promise<ShownLine[][]> {
    const read = async (name: string, tail: number): Promise<ShownLine[]> => {
      const query = formatQuery({ tail: String(tail), source });
      const { lines } = await api.get<Logs>(`${pathTo`/servers/${name}/logs`}?${query}`, { signal });
      return lines.map((line) => shownLine({ server: name, ...line }));
    };
    if (server !== "") return [await read(server, isWhole ? KEPT : TAIL_OF_ONE)];
    const servers = await api.get<Server[]>("/servers?view=summary", { signal });
    const ofServers = servers.map(({ config }) => read(config.name, TAIL));
    return Promise.all(source === undefined ? [this.#hubLines(signal), ...ofServers] : ofServers);
  }

  async #hubLines(signal: AbortSignal): Promise<ShownLine[]> {
    return (await api.get<LogLine[]>(`/logs?tail=${TAIL_OF_ONE}`, { signal })).map(shownHubLine);
  }

  /** The hub's own lines are in no event: its log about events would never end. */
  async #pollHub(signal: AbortSignal): Promise<void> {
    let isFirst = true;
    while (!signal.aborted) {
      try {
        if (isFirst) {
          this.#replace(await this.#hubLines(signal));
          isFirst = false;
        } else if (document.visibilityState === "visible") {
          const last = this.#ring.at(this.#ring.length - 1)?.timestamp ?? "";
          for (const line of await this.#hubLines(signal)) if (line.timestamp > last) this.#push(line);
        }
      } catch (error) {
        this.#failed(error, signal);
      }
      await sleep(2000, signal);
    }
  }

  #failed(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    if (!(error instanceof Problem)) throw error;
    this.problem = error;
    this.isRead = true;
  }

  #replace(lines: readonly ShownLine[]): void {
    this.#ring = new LineRing(KEPT);
    this.#ring.append(lines);
    this.lines = this.#ring.toArray();
    this.isRead = true;
    this.problem = undefined;
  }

  /** New lines are shown together, once per frame. */
  #push(line: ShownLine): void {
    this.#waiting.push(line);
    if (this.#waiting.length > KEPT) this.#waiting.splice(0, this.#waiting.length - KEPT);
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      if (this.isPaused) this.waitingCount = this.#waiting.length;
      else this.#flush();
    });
  }

  #flush(): void {
    this.dropped += this.#ring.append(this.#waiting);
    this.#waiting = [];
    this.waitingCount = 0;
    this.lines = this.#ring.toArray();
  }
}
