// The clients that are connected: sessions of legacy clients, and modern clients, which have no session and count as connected for a
// while after a call. Shared by all edges, for the management API.

import type { HubEvents } from "../events.ts";
import { isObject, type JsonObject } from "../lib/json/json.ts";
import { META, MODERN_VERSION } from "../protocol/revisions/era.ts";
import { BRIDGE_HEADER } from "../protocol/revisions/headers.ts";
import type { IncomingRequest, Session, SessionOrigin, TransportName } from "../protocol/serve/service.ts";

/** A modern client is forgotten after this time without a call. */
const STATELESS_MS = 600_000;
const MAX_STATELESS = 200;

export interface ConnectedClient {
  readonly id: string;
  readonly clientInfo: JsonObject | undefined;
  readonly transport: TransportName | "bridge" | "stateless";
  readonly group: string;
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly lastCallAt: number | undefined;
  readonly calls: number;
  readonly subscriptions: number;
}

/** A session as the endpoint of a group opens it. */
export interface OpenedSession {
  readonly session: Session;
  readonly origin: SessionOrigin;
  readonly group: string;
  /** Number of its subscriptions to resources. */
  subscriptions(): number;
}

class Entry implements ConnectedClient {
  readonly since = Date.now();
  readonly #opened: OpenedSession;

  constructor(opened: OpenedSession) {
    this.#opened = opened;
  }

  get id(): string {
    return this.#opened.session.publicId;
  }

  get clientInfo(): JsonObject | undefined {
    return this.#opened.session.clientInfo;
  }

  get transport(): ConnectedClient["transport"] {
    const { transport, headers } = this.#opened.origin;
    return headers[BRIDGE_HEADER] === undefined ? transport : "bridge";
  }

  get group(): string {
    return this.#opened.group;
  }

  get version(): string {
    return this.#opened.session.version;
  }

  get lastCallAt(): number | undefined {
    return this.#opened.session.usage.lastCallAt;
  }

  get calls(): number {
    return this.#opened.session.usage.calls;
  }

  get subscriptions(): number {
    return this.#opened.subscriptions();
  }

  end(): void {
    this.#opened.origin.end();
  }
}

interface Stateless extends ConnectedClient {
  lastCallAt: number;
  calls: number;
}

export class LiveSessions {
  readonly #events: HubEvents;
  /** By public id. */
  readonly #sessions = new Map<string, Entry>();
  /** By transport, group, name and version, oldest first. */
  readonly #stateless = new Map<string, Stateless>();
  #lastStateless = 0;

  constructor(events: HubEvents) {
    this.#events = events;
  }

  opened(opened: OpenedSession): void {
    const entry = new Entry(opened);
    this.#sessions.set(entry.id, entry);
    this.#events.emit("session.opened", entry);
  }

  closed({ publicId: id }: Session): void {
    if (this.#sessions.delete(id)) this.#events.emit("session.closed", { id });
  }

  /** Counts a tool call. */
  called({ session, request, headers }: Pick<IncomingRequest, "session" | "request" | "headers">, group: string): void {
    if (session === undefined) {
      const transport = headers[BRIDGE_HEADER] === undefined ? "stateless" : "bridge";
      return this.#calledStateless(request.params?.value["_meta"], group, transport);
    }
    session.usage.calls++;
    session.usage.lastCallAt = Date.now();
  }

  list(): ConnectedClient[] {
    this.#forgetStateless(Date.now() - STATELESS_MS);
    return [...this.#sessions.values(), ...this.#stateless.values()];
  }

  /** Ends a session. Returns false if it is unknown, or is not one that can be ended. */
  end(id: string): boolean {
    const entry = this.#sessions.get(id);
    entry?.end();
    return entry !== undefined;
  }

  #calledStateless(meta: unknown, group: string, transport: "stateless" | "bridge"): void {
    const info = isObject(meta) ? meta[META.clientInfo] : undefined;
    const clientInfo = isObject(info) ? info : undefined;
    const key = `${transport}\n${group}\n${String(clientInfo?.["name"])}\n${String(clientInfo?.["version"])}`;
    const now = Date.now();
    const known = this.#stateless.get(key);
    if (known !== undefined) {
      known.calls++;
      known.lastCallAt = now;
      return;
    }
    this.#forgetStateless(now - STATELESS_MS);
    const client: Stateless = {
      id: `stateless-${++this.#lastStateless}`,
      clientInfo,
      transport,
      group,
      version: MODERN_VERSION,
      since: now,
      lastCallAt: now,
      calls: 1,
      subscriptions: 0,
    };
    this.#stateless.set(key, client);
    this.#events.emit("session.opened", client);
  }

  /** Also the oldest one if there are too many. */
  #forgetStateless(before: number): void {
    const [oldest] = this.#stateless.size >= MAX_STATELESS ? this.#stateless.keys() : [];
    for (const [key, { id, lastCallAt }] of this.#stateless) {
      if (key !== oldest && lastCallAt >= before) continue;
      this.#stateless.delete(key);
      this.#events.emit("session.closed", { id });
    }
  }
}
