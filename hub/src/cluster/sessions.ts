// The legacy sessions of a hub among others. The id of a session names the hub that made it. A request that reaches another hub is
// forwarded to the owner; a session whose owner is gone is adopted from its row. PostgreSQL decides who owns what.

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { parseJson } from "@plugboard/shared/lenient";
import { HubError, toHubError } from "../errors.ts";
import { isObject } from "../lib/json/json.ts";
import type { PeerRequest, RoutedRequest, SessionRouting } from "../mcp/session-routing.ts";
import {
  isRecord,
  MAX_RECORD_BYTES,
  type SessionRecord,
  type SessionRecords,
} from "../protocol/serve/session-records.ts";
import type { ForwardOutcome, Peer } from "./peer-client.ts";
import type { FoundSession, Owner, SessionStore } from "./session-store.ts";
import { SessionWriter } from "./session-writer.ts";

/** A request waits this long for PostgreSQL to notice that an owner has died. */
const WAIT_MS = 5000;
const POLL_MS = 50;
/** An owner that is only silent may still be there: its lock must have been free for this long. */
const SILENT_MS = 15_000;
const TICK_MS = 1000;
const SWEEP_TICKS = 600;
const MAX_KNOWN = 10_000;

/** The sessions in the memory of this hub. */
export interface LocalSessions {
  hasSession(id: string): boolean;
  endSession(id: string): void;
  serve(request: PeerRequest): void;
}

export interface ClusterSessionsOptions {
  /** The name of this hub. */
  readonly name: string;
  readonly store: SessionStore;
  readonly forward: (peer: Peer, request: RoutedRequest) => Promise<ForwardOutcome>;
  readonly local: () => LocalSessions;
  /** Whether this hub holds the lock on its name. */
  readonly isOwner: () => boolean;
  readonly waitMs?: number;
  readonly silentMs?: number;
}

export class ClusterSessions implements SessionRouting {
  readonly #options: ClusterSessionsOptions;
  readonly #self: Owner;
  readonly #writer: SessionWriter;
  /** The sessions of this hub. */
  readonly #own = new Set<string>();
  /** Adopted, and not yet in memory. */
  readonly #adopted = new Map<string, { readonly endpoint: string; readonly record: SessionRecord }>();
  /** The adoptions under way. */
  readonly #adopting = new Map<string, Promise<boolean>>();
  /** Where other hubs were reached last, by name. */
  readonly #addresses = new Map<string, string>();
  /** The owners of sessions that another hub than the one in the id has. */
  readonly #moved = new Map<string, string>();
  /** Since when the locks of hubs that are silent were seen free. */
  readonly #freeSince = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #ticks = 0;
  #isClosing = false;
  /** The lock was lost since the sessions were last compared with the store. */
  #mayHaveLost = false;

  constructor(options: ClusterSessionsOptions) {
    this.#options = options;
    this.#self = { replica: options.name, instance: randomUUID() };
    this.#writer = new SessionWriter(options.store, this.#self);
    this.#timer = setInterval(() => void this.#tick(), TICK_MS).unref();
  }

  records(endpoint: string): SessionRecords {
    return {
      newId: () => `${this.#self.replica}-${randomUUID()}`,
      find: (id) => {
        const adopted = this.#adopted.get(id);
        return adopted?.endpoint === endpoint ? adopted.record : undefined;
      },
      put: (record) => {
        const text = JSON.stringify(record);
        this.#adopted.delete(record.id);
        this.#own.add(record.id);
        if (text.length > MAX_RECORD_BYTES) this.#writer.remove(record.id);
        else this.#writer.put({ id: record.id, endpoint, record: text });
      },
      remove: (id) => {
        this.#adopted.delete(id);
        this.#own.delete(id);
        this.#writer.remove(id);
      },
      saved: () => this.#writer.flush(),
    };
  }

  route(request: RoutedRequest): void {
    this.#route(request).catch((thrown: unknown) => {
      if (!request.response.isOver) request.fail(toHubError(thrown));
    });
  }

  /** A request that another hub has forwarded. Returns false if the session is not here; it is not forwarded again. */
  async servePeer(request: PeerRequest): Promise<boolean> {
    if (this.#isClosing) return false;
    const local = this.#options.local();
    if (!local.hasSession(request.session)) {
      const found = await this.#options.store.find(request.session);
      const isMine = found?.replica === this.#self.replica && found.instance !== "";
      if (!isMine || found.record === undefined) return false;
      if (found.instance !== this.#self.instance && !(await this.#adopt(found))) return false;
      if (!this.#adopted.has(request.session) && !local.hasSession(request.session)) return false;
    }
    local.serve(request);
    return true;
  }

  /** Writes what is not yet written, and lets the other hubs adopt the sessions. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#timer);
    await this.#writer.flush();
    await this.#options.store.release(this.#self).catch(() => undefined); // away: the lock tells them
  }

  async #route(request: RoutedRequest): Promise<void> {
    if (this.#isClosing) throw new HubError("HubUnavailable", "The hub is stopping", { delivery: "unsent" });
    const name = this.#moved.get(request.session) ?? nameIn(request.session);
    if (name === undefined) return request.serve();
    const url = name === this.#self.replica ? undefined : this.#addresses.get(name);
    if (url !== undefined && (await this.#forward({ name, url }, request)) === "answered") return;
    await this.#routeByRow(request);
  }

  async #routeByRow(request: RoutedRequest): Promise<void> {
    const { waitMs = WAIT_MS } = this.#options;
    const { session, endpoint, requester, response } = request;
    /** The owner that has said that it has no such session. */
    let denied: string | undefined;
    for (const deadline = Date.now() + waitMs; !response.isOver; await sleep(POLL_MS)) {
      await this.#adopting.get(session);
      const found = await this.#options.store.find(session);
      // The same answer for no session, and for one of another endpoint or caller.
      if (found?.endpoint !== endpoint || recordIn(found)?.owner !== requester?.owner) return request.serve();
      if (found.instance === this.#self.instance || found.instance === denied) return request.serve();
      const outcome = await this.#tryOwner(found, request);
      if (outcome === "answered") return;
      if (outcome === "elsewhere") denied = found.instance;
      else if (this.#isGone(found, outcome) && (await this.#adopt(found))) return request.serve();
      if (Date.now() < deadline) continue;
      throw new HubError("HubUnavailable", `The hub ${found.replica}, which owns the session, does not answer`, {
        delivery: "unsent",
        hint: "Hubs of several machines need cluster.listen in hub.json, an address that the others reach, and equal clocks",
      });
    }
  }

  /** Also if it seems to be gone: it may have lost its connection to PostgreSQL only. */
  async #tryOwner(found: FoundSession, request: RoutedRequest): Promise<ForwardOutcome> {
    const { session: id } = request;
    const { replica: name, instance, peer: url } = found;
    if (name === this.#self.replica || instance === "" || url === undefined) return "gone";
    const outcome = await this.#forward({ name, url }, request);
    if (outcome !== "answered") return outcome;
    remember(this.#addresses, name, url);
    if (nameIn(id) !== name) remember(this.#moved, id, name);
    return outcome;
  }

  async #forward(peer: Peer, request: RoutedRequest): Promise<ForwardOutcome> {
    // A stream is open for as long as its client: only what asks for something counts.
    const limit = request.request.method === "POST" ? request.requester?.limit : undefined;
    limit?.enter();
    try {
      const outcome = await this.#options.forward(peer, request);
      if (outcome !== "answered") this.#addresses.delete(peer.name);
      return outcome;
    } finally {
      limit?.leave();
    }
  }

  #isGone({ replica, instance, isAlive }: FoundSession, outcome: ForwardOutcome): boolean {
    if (isAlive && replica !== this.#self.replica && instance !== "") {
      this.#freeSince.delete(replica);
      return false;
    }
    if (outcome === "gone") return true;
    const since = this.#freeSince.get(replica) ?? Date.now();
    this.#freeSince.set(replica, since);
    return Date.now() - since >= (this.#options.silentMs ?? SILENT_MS);
  }

  /** Returns false if another hub was faster. */
  async #adopt(found: FoundSession): Promise<boolean> {
    const { id } = found;
    const known = this.#adopting.get(id);
    if (known !== undefined) return known;
    const adopting = this.#takeOver(found).finally(() => this.#adopting.delete(id));
    this.#adopting.set(id, adopting);
    return adopting;
  }

  async #takeOver(found: FoundSession): Promise<boolean> {
    const record = recordIn(found);
    if (record === undefined || !(await this.#options.store.adopt(found.id, found, this.#self))) return false;
    this.#moved.delete(found.id);
    this.#own.add(found.id);
    this.#adopted.set(found.id, { endpoint: found.endpoint, record });
    return true;
  }

  async #tick(): Promise<void> {
    if (!this.#options.isOwner()) this.#mayHaveLost = true;
    else await this.#writer.flush();
    if (this.#mayHaveLost && this.#options.isOwner()) await this.#endLost().catch(() => undefined); // next time
    if (++this.#ticks % SWEEP_TICKS === 0) await this.#options.store.sweep().catch(() => undefined); // next time
  }

  /** While this hub was without its lock, others may have adopted its sessions. */
  async #endLost(): Promise<void> {
    const before = [...this.#own];
    const kept = new Set(await this.#options.store.ownedBy(this.#self));
    this.#mayHaveLost = false;
    for (const id of before) {
      if (kept.has(id) || this.#writer.isPending(id)) continue;
      this.#own.delete(id);
      this.#options.local().endSession(id);
    }
  }
}

/** The hub that made the session. Undefined: the id is not of a cluster. */
function nameIn(id: string): string | undefined {
  return /^([a-z0-9]{1,32})-/.exec(id)?.[1];
}

function recordIn({ record }: FoundSession): SessionRecord | undefined {
  const value = parseJson(record);
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- `isRecord` has checked it
  return isObject(value) && isRecord(value) ? (value as unknown as SessionRecord) : undefined;
}

function remember(map: Map<string, string>, key: string, value: string): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MAX_KNOWN && oldest !== undefined) map.delete(oldest);
}
