// A Matrix homeserver on loopback, written from the specification: accounts, rooms, `/sync` that waits, `/messages` with tokens,
// relations, redactions, transaction ids. The tests use it as they would use a real one, over HTTP.

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { listen, portOf } from "../sockets.ts";

interface StoredEvent {
  readonly room: string;
  readonly event_id: string;
  readonly type: string;
  readonly sender: string;
  readonly origin_server_ts: number;
  readonly state_key?: string;
  readonly redacts?: string;
  content: Readonly<Record<string, unknown>>;
}

type Answer = readonly [status: number, body: unknown];
type Json = Readonly<Record<string, unknown>>;

interface Request {
  readonly method: string;
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Json;
  readonly user: string;
  readonly token: string;
}

export class HomeserverDouble {
  readonly url: string;
  readonly #server: Server;
  /** In chronological order: the index is the token. */
  readonly #events: StoredEvent[] = [];
  readonly #users = new Map<string, string>();
  readonly #sent = new Map<string, string>();
  readonly #waiting = new Set<() => void>();
  #limits = 0;
  /** Received calls, such as `messages` and `timestamp_to_event`. */
  readonly calls: string[] = [];
  /** Endpoints that fail: `unknown` as if not implemented, `broken` with a server error. */
  readonly faults = new Map<string, "unknown" | "broken">();

  static async start(): Promise<HomeserverDouble> {
    const server = createServer();
    await listen(server);
    return new HomeserverDouble(server);
  }

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${portOf(server)}`;
    server.on("request", (request, response) => void this.#serve(request, response));
  }

  get polling(): number {
    return this.#waiting.size;
  }

  /** Rejects this number of calls with a rate limit. */
  limit(calls: number): void {
    this.#limits = calls;
    for (const wake of this.#waiting) wake();
  }

  /** Sends as a user at a time. Times of a room must not decrease. */
  say(room: string, user: string, at: number, body: string): string {
    const content = { msgtype: "m.text", body };
    return this.#add({ room, type: "m.room.message", sender: user, content }, at);
  }

  /** Read receipts of a user. */
  read(room: string, user: string, id: string, more: Json = {}, kind = "m.read"): void {
    this.#add({
      room,
      type: "m.receipt",
      sender: user,
      content: { [id]: { [kind]: { [user]: { ts: Date.now(), ...more } } } },
    });
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    try {
      for await (const part of request) parts.push(part as Buffer);
    } catch {
      return; // disconnected
    }
    const url = new URL(request.url ?? "", this.url);
    const token = (request.headers.authorization ?? "").replace("Bearer ", "");
    const text = Buffer.concat(parts).toString();
    const [status, body] = await this.#answer(
      {
        method: request.method ?? "",
        parts: url.pathname.split("/").slice(3).map(decodeURIComponent),
        query: url.searchParams,
        body: text === "" ? {} : (JSON.parse(text) as Json),
        user: this.#users.get(token) ?? "",
        token,
      },
      response,
    );
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  }

  async #answer(request: Request, response: ServerResponse): Promise<Answer> {
    const { parts, user, body } = request;
    const [, section, room = "", what = ""] = parts;
    if (section === "register") return this.#register(String(body["username"]));
    if (user === "") return [401, { errcode: "M_UNKNOWN_TOKEN", error: "Unrecognised access token" }];
    if (this.#limits > 0) {
      this.#limits--;
      return [429, { errcode: "M_LIMIT_EXCEEDED", error: "Too fast", retry_after_ms: 7000 }];
    }
    if (section === "account") return [200, { user_id: user }];
    if (section === "createRoom") return this.#createRoom(request);
    if (section === "join") return this.#join(room, user);
    if (section === "sync") return this.#sync(request, response);
    if (section === "user") return this.#setDirect(request);
    if (section !== "rooms") return unknown();
    if (!this.#joined(user).has(room)) return [403, { errcode: "M_FORBIDDEN", error: "You are not in this room" }];
    this.calls.push(what);
    const fault = this.faults.get(what);
    if (fault !== undefined) return fault === "unknown" ? unknown() : [500, { errcode: "M_UNKNOWN", error: "Broken" }];
    switch (what) {
      case "send":
        return this.#send(request, room, parts[4] ?? "", parts[5] ?? "");
      case "redact":
        return this.#redact(request, room, parts[4] ?? "");
      case "messages":
        return this.#messages(request, room);
      case "event":
        return this.#find(room, parts[4] ?? "") ?? notFound();
      case "state":
        return this.#state(room, parts[4] ?? "");
      case "context":
        return this.#context(room, parts[4] ?? "");
      case "timestamp_to_event":
        return this.#nearest(room, Number(request.query.get("ts")));
      default:
        return unknown();
    }
  }

  #register(name: string): Answer {
    const [token, user] = [randomUUID(), `@${name}:localhost`];
    this.#users.set(token, user);
    return [200, { user_id: user, access_token: token }];
  }

  #createRoom({ user, body }: Request): Answer {
    const room = `!${randomUUID()}:localhost`;
    const creation = isObject(body["creation_content"]) ? body["creation_content"] : {};
    this.#add({
      room,
      type: "m.room.create",
      sender: user,
      state_key: "",
      content: { room_version: "10", ...creation },
    });
    this.#join(room, user);
    if (typeof body["name"] === "string") {
      this.#add({ room, type: "m.room.name", sender: user, state_key: "", content: { name: body["name"] } });
    }
    for (const state of Array.isArray(body["initial_state"]) ? (body["initial_state"] as Json[]) : []) {
      this.#add({ room, type: String(state["type"]), sender: user, state_key: "", content: state["content"] as Json });
    }
    return [200, { room_id: room }];
  }

  #join(room: string, user: string): Answer {
    const content = { membership: "join", displayname: user.slice(1).split(":", 1)[0] ?? user };
    this.#add({ room, type: "m.room.member", sender: user, state_key: user, content });
    return [200, { room_id: room }];
  }

  readonly #direct = new Map<string, Json>();
  #setDirect({ user, body }: Request): Answer {
    this.#direct.set(user, body);
    return [200, {}];
  }

  #send({ user, token, body }: Request, room: string, type: string, transaction: string): Answer {
    const key = `${token} ${transaction}`;
    const known = this.#sent.get(key);
    const id = known ?? this.#add({ room, type, sender: user, content: body });
    this.#sent.set(key, id);
    return [200, { event_id: id }];
  }

  #redact({ user }: Request, room: string, target: string): Answer {
    const event = this.#events.find(({ event_id: id }) => id === target);
    if (event !== undefined) event.content = {};
    return [
      200,
      {
        event_id: this.#add({
          room,
          type: "m.room.redaction",
          sender: user,
          redacts: target,
          content: { redacts: target },
        }),
      },
    ];
  }

  #messages({ query }: Request, room: string): Answer {
    const from = place(query.get("from")) ?? this.#events.length;
    const to = place(query.get("to")) ?? 0;
    const limit = Number(query.get("limit") ?? 10);
    const found = this.#events
      .map((event, index) => ({ event, index }))
      .filter(({ event, index }) => event.room === room && !isReceipt(event) && index < from && index >= to)
      .toReversed();
    const page = found.slice(0, limit);
    const end = found.length > limit ? { end: `t${page.at(-1)?.index ?? 0}` } : {};
    return [200, { start: `t${from}`, chunk: page.map(({ event }) => shown(event)), ...end }];
  }

  #find(room: string, id: string): Answer | undefined {
    const event = this.#events.find((candidate) => candidate.room === room && candidate.event_id === id);
    return event === undefined ? undefined : [200, shown(event)];
  }

  #context(room: string, id: string): Answer {
    const found = this.#events.find((candidate) => candidate.room === room && candidate.event_id === id);
    return found === undefined ? notFound() : [200, { start: `t${this.#index(id)}`, event: shown(found) }];
  }

  #state(room: string, type: string): Answer {
    const event = this.#events.findLast((candidate) => candidate.room === room && candidate.type === type);
    return event === undefined ? notFound() : [200, event.content];
  }

  #nearest(room: string, at: number): Answer {
    const event = this.#events.findLast((candidate) => candidate.room === room && candidate.origin_server_ts <= at);
    return event === undefined
      ? notFound()
      : [200, { event_id: event.event_id, origin_server_ts: event.origin_server_ts }];
  }

  async #sync(request: Request, response: ServerResponse): Promise<Answer> {
    const since = place(request.query.get("since"));
    const timeoutMs = Number(request.query.get("timeout") ?? 0);
    const filter = JSON.parse(request.query.get("filter") ?? "{}") as { room?: { timeline?: { limit?: number } } };
    const limit = filter.room?.timeline?.limit ?? 10;
    if (since !== undefined && !this.#hasNews(request.user, since) && timeoutMs > 0)
      await this.#news(timeoutMs, response, request.user, since);
    if (this.#limits > 0) {
      this.#limits--;
      return [429, { errcode: "M_LIMIT_EXCEEDED", error: "Too fast", retry_after_ms: 7000 }];
    }
    const join = Object.fromEntries(
      [...this.#joined(request.user)].flatMap((room) => {
        const news = this.#events.filter((event, index) => event.room === room && index >= (since ?? 0));
        const [receipts, rest] = [news.filter(isReceipt), news.filter((event) => !isReceipt(event))];
        return news.length === 0 && since !== undefined
          ? []
          : [
              [
                room,
                {
                  ...this.#syncRoom(room, rest, { since, limit }),
                  ephemeral: { events: receipts.map(({ type, content }) => ({ type, content })) },
                },
              ],
            ];
      }),
    );
    const direct = this.#direct.get(request.user);
    const accountData = direct === undefined || since !== undefined ? [] : [{ type: "m.direct", content: direct }];
    return [200, { next_batch: `s${this.#events.length}`, rooms: { join }, account_data: { events: accountData } }];
  }

  #syncRoom(
    room: string,
    news: readonly StoredEvent[],
    { since, limit }: { since: number | undefined; limit: number },
  ): Json {
    const timeline = news.slice(-limit);
    const first = timeline[0];
    const start = first === undefined ? this.#events.length : this.#events.indexOf(first);
    const before = this.#events
      .slice(since ?? 0, start)
      .filter((event) => event.room === room && event.state_key !== undefined);
    const members = this.#events.filter((event) => event.room === room && event.type === "m.room.member");
    return {
      summary:
        since === undefined ? { "m.joined_member_count": new Set(members.map(({ state_key: key }) => key)).size } : {},
      state: { events: before.map(shown) },
      timeline: { events: timeline.map(shown), limited: news.length > limit, prev_batch: `t${start}` },
    };
  }

  #hasNews(user: string, since: number): boolean {
    const joined = this.#joined(user);
    return this.#events.slice(since).some(({ room }) => joined.has(room));
  }

  #news(timeoutMs: number, response: ServerResponse, user: string, since: number): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!this.#hasNews(user, since) && this.#limits === 0) return;
        finish();
      };
      const finish = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve();
      };
      const timer = setTimeout(finish, timeoutMs);
      this.#waiting.add(look);
      response.on("close", finish);
    });
  }

  #joined(user: string): Set<string> {
    return new Set(
      this.#events.flatMap((event) => (event.type === "m.room.member" && event.state_key === user ? [event.room] : [])),
    );
  }

  #index(id: string): number {
    return this.#events.findIndex((event) => event.event_id === id);
  }

  #add(event: Omit<StoredEvent, "event_id" | "origin_server_ts">, at = Date.now()): string {
    const id = `$${randomUUID()}`;
    this.#events.push({ ...event, event_id: id, origin_server_ts: at });
    for (const wake of this.#waiting) wake();
    return id;
  }
}

/** State outside the timeline. */
const isReceipt = ({ type }: StoredEvent): boolean => type === "m.receipt";
const shown = ({ room, ...event }: StoredEvent): Json => ({ ...event, room_id: room });
const unknown = (): Answer => [404, { errcode: "M_UNRECOGNIZED", error: "Unrecognized request" }];
const notFound = (): Answer => [404, { errcode: "M_NOT_FOUND", error: "Not found" }];
const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null;

function place(token: string | null): number | undefined {
  return token === null ? undefined : Number(token.slice(1));
}
