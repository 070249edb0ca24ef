// Matrix: the joined, unencrypted rooms of an account. The sync token is the checkpoint; gaps after a long absence are fetched.

import type { z } from "zod";
import { ChatError } from "../../errors.ts";
import {
  CHANGES,
  type BackfilledPage,
  type BackfillRequest,
  type ChatSource,
  type MessageOrigin,
  type SendRequest,
  type SourceContext,
  type SourceEvent,
} from "../../model/source.ts";
import { asFailure, type SourceFailure } from "../failure.ts";
import type { SentMessage } from "../idempotent-send.ts";
import { NetworkSource, type NetworkSourceOptions } from "../network-source.ts";
import { commit } from "../reconnect.ts";
import { Homeserver, MatrixRefusal } from "./homeserver.ts";
import { Rooms } from "./rooms.ts";
import { readEvents, replacedBy, toEvents } from "./to-events.ts";
import { wire, type Event, type Messages, type StateEvent, type SyncRoom } from "./wire.ts";

export interface MatrixOptions extends NetworkSourceOptions {
  /** Such as `https://matrix.example.org`. */
  readonly url: string;
  readonly accessToken: () => Promise<string>;
}

const SYNC_MS = 30_000;
const SYNC_MARGIN_MS = 15_000;
/** Events per room in a sync response. */
const TIMELINE = 50;
const PAGE = 100;
/** Missed events fetched per room; the rest is left to `backfill`. */
const MAX_MISSED = 2000;
const MAX_EMPTY = 3;
const BATCH = 500;

export const createMatrix = (options: MatrixOptions): ChatSource => new Matrix(options);

class Matrix extends NetworkSource {
  readonly kind = "matrix";
  readonly capabilities = { history: "window", stream: true, backfill: true, send: true, changes: CHANGES } as const;
  readonly #server: Homeserver;
  #live: { readonly context: SourceContext; readonly rooms: Rooms } | undefined;

  constructor({ url, accessToken, ...options }: MatrixOptions) {
    super(options, "Matrix");
    this.#server = new Homeserver(url, accessToken);
  }

  async run(context: SourceContext): Promise<void> {
    const position = { since: context.checkpoint["since"] };
    await this.stayConnected(context, (connected) => this.#follow(context, position, connected));
    this.#live = undefined;
  }

  async backfill(request: BackfillRequest): Promise<BackfilledPage> {
    const { chat, limit, signal } = request;
    const live = this.#live;
    if (live === undefined) throw this.notConnected();
    const start = await this.#startOf(request);
    if (start === "no_time_lookup") return { status: start };
    if (start === "nothing_older") return { status: "page", exhausted: true };
    const { chunk, end, state } = await this.#olderPage(
      chat,
      { from: start.from, limit: Math.min(limit, PAGE) },
      signal,
    );
    const raws = [...chunk.toReversed(), ...start.events];
    const people = state.flatMap((raw) => stateOf(raw).flatMap((event) => live.rooms.learn(chat, event)));
    const events = await this.#eventsOf(raws, { chat, rooms: live.rooms, origin: "backfill", signal });
    await live.context.sink([...people, ...events]);
    const times = raws.flatMap((raw) => wire.event.safeParse(raw).data?.origin_server_ts ?? []);
    return {
      status: "page",
      exhausted: end === undefined,
      ...(times.length === 0 ? {} : { reachedAt: Math.min(...times) }),
      ...(end === undefined ? {} : { token: end }),
    };
  }

  async send({ chat, text, replyTo, idempotencyKey }: SendRequest): Promise<SentMessage> {
    // Not the run's signal: a requested message is sent even while the source stops.
    const { signal } = new AbortController();
    const body = {
      msgtype: "m.text",
      body: text,
      ...(replyTo === undefined ? {} : { "m.relates_to": { "m.in-reply-to": { event_id: replyTo } } }),
    };
    try {
      if (await this.#isEncrypted(chat, signal)) {
        throw new ChatError("SEND_NOT_ALLOWED", "The room is encrypted, and this source cannot encrypt");
      }
      // The homeserver deduplicates by this key.
      const path = ["v3", "rooms", chat, "send", "m.room.message", idempotencyKey];
      const sent = await this.#server.call(path, { method: "PUT", body, result: wire.sent, signal });
      return { id: sent.event_id, at: Date.now() };
    } catch (error) {
      throw this.#toChatError(error);
    }
  }

  protected howToConnect({ kind }: SourceFailure): string {
    if (kind === "unauthorized")
      return "Create a new access token for the account and put it into the source's settings.";
    return "Check the homeserver's address. The connection is retried automatically.";
  }

  #toChatError(error: unknown): ChatError {
    if (error instanceof ChatError) return error;
    const failure = asFailure(error);
    const { kind, message, retryAfterMs = 1000 } = failure;
    if (kind === "rate_limited") return new ChatError("RATE_LIMITED", message, { retry_after_s: retryAfterMs / 1000 });
    if (kind === "unauthorized") return this.notConnected(message, failure);
    if (kind === "refused") return new ChatError("SEND_NOT_ALLOWED", message);
    // The homeserver deduplicates by the key, so a retry is safe.
    return new ChatError("TIMEOUT", message, { hint: "Send it again with the same key." });
  }

  async #follow(context: SourceContext, position: { since: string | undefined }, connected: () => void): Promise<void> {
    const { signal } = context;
    const { user_id: self } = await this.#server.call(["v3", "account", "whoami"], { result: wire.whoami, signal });
    const rooms = new Rooms(self);
    await commit(context, [{ type: "person", person: { id: self, isSelf: true } }]);
    this.#live = { context, rooms };
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      // The first sync returns at once and proves the connection.
      const query = { since: position.since, timeout: isFirst ? 0 : SYNC_MS, filter: FILTER };
      const answer = await this.#server.call(["v3", "sync"], {
        query,
        result: wire.sync,
        timeoutMs: SYNC_MS + SYNC_MARGIN_MS,
        signal,
      });
      for (const raw of answer.account_data.events) {
        const direct = wire.direct.safeParse(raw);
        if (direct.success) rooms.setDirect(direct.data.content);
      }
      const events: SourceEvent[] = [];
      for (const [chat, room] of Object.entries(answer.rooms.join)) {
        events.push(...(await this.#roomEvents(chat, room, { rooms, since: position.since, context })));
      }
      if (answer.next_batch !== position.since) {
        await commitAll(context, events, { type: "checkpoint", state: { since: answer.next_batch } });
        position.since = answer.next_batch;
      }
      if (isFirst) connected();
    }
  }

  async #roomEvents(
    chat: string,
    room: SyncRoom,
    { rooms, since, context }: { rooms: Rooms; since: string | undefined; context: SourceContext },
  ): Promise<SourceEvent[]> {
    const { timeline } = room;
    const isCut = timeline.limited && since !== undefined && timeline.prev_batch !== undefined;
    const missed = isCut
      ? await this.#missed(chat, timeline.prev_batch ?? "", since, context.signal)
      : { events: [], rest: since === undefined && timeline.limited ? timeline.prev_batch : undefined };
    const raws = [...missed.events, ...timeline.events];
    const known = [...room.state.events, ...raws].flatMap(stateOf).flatMap((event) => rooms.learn(chat, event));
    if (rooms.isSpace(chat)) return [];
    const origin = since === undefined ? "backfill" : "live";
    const reading = { chat, rooms, origin, signal: context.signal } as const;
    const events = await this.#eventsOf(raws, reading);
    const unfetched = unfetchedBefore(chat, missed.rest, raws, context.now());
    const read = room.ephemeral.events.flatMap((raw) => readEvents(raw, chat, rooms.self));
    return [...known, rooms.chatEvent(chat, room), ...unfetched, ...events, ...read];
  }

  /** Events between the last sync and this one, oldest first, and the token of the part that was not fetched. */
  async #missed(
    chat: string,
    from: string,
    since: string,
    signal: AbortSignal,
  ): Promise<{ events: unknown[]; rest: string | undefined }> {
    const pages: unknown[][] = [];
    let [at, count]: [string | undefined, number] = [from, 0];
    while (at !== undefined && count < MAX_MISSED) {
      const query: Readonly<Record<string, string | number>> = { dir: "b", limit: PAGE, from: at, to: since };
      const page: Messages = await this.#server.call(["v3", "rooms", chat, "messages"], {
        query,
        result: wire.messages,
        signal,
      });
      pages.push(page.chunk.toReversed());
      count += page.chunk.length;
      at = page.chunk.length === 0 ? undefined : page.end;
    }
    return { events: pages.toReversed().flat(), rest: at };
  }

  async #eventsOf(
    raws: readonly unknown[],
    { chat, rooms, origin, signal }: { chat: string; rooms: Rooms; origin: MessageOrigin; signal: AbortSignal },
  ): Promise<SourceEvent[]> {
    const events: SourceEvent[] = [];
    for (const raw of raws) {
      const event = wire.event.safeParse(raw);
      if (!event.success) continue;
      await this.#learnReplaced(event.data, chat, rooms, signal);
      const converted = toEvents(event.data, chat, rooms, origin);
      const { sender } = event.data;
      if (converted.length > 0)
        events.push({ type: "person", person: { id: sender, ...(sender === rooms.self ? { isSelf: true } : {}) } });
      events.push(...converted);
    }
    return events;
  }

  /** Fetches the sender of an edited message from before this run. */
  async #learnReplaced(event: Event, chat: string, rooms: Rooms, signal: AbortSignal): Promise<void> {
    const replaced = replacedBy(event);
    if (replaced === undefined || rooms.senderOf(replaced) !== undefined) return;
    try {
      const original = await this.#server.call(["v3", "rooms", chat, "event", replaced], {
        result: wire.event,
        signal,
      });
      rooms.addSender(replaced, original.sender);
    } catch (error) {
      unlessRefused(error);
    }
  }

  async #isEncrypted(chat: string, signal: AbortSignal): Promise<boolean> {
    try {
      const path = ["v3", "rooms", chat, "state", "m.room.encryption"];
      await this.#server.call(path, { result: wire.anything, signal });
      return true;
    } catch (error) {
      if (error instanceof MatrixRefusal && error.status === 404) return false;
      throw error;
    }
  }

  /** An empty page need not be the last: the homeserver may have filtered its events. */
  async #olderPage(
    chat: string,
    { from, limit }: { readonly from: string | undefined; readonly limit: number },
    signal: AbortSignal,
  ): Promise<Messages> {
    let at = from;
    for (let empty = 0; ; empty++) {
      const page: Messages = await this.#server.call(["v3", "rooms", chat, "messages"], {
        query: { dir: "b", limit, from: at },
        result: wire.messages,
        signal,
      });
      if (page.chunk.length > 0 || page.end === undefined) return page;
      if (page.end === at || empty === MAX_EMPTY) return { ...page, end: undefined };
      at = page.end;
    }
  }

  /** The pagination token to start from, and events at that point which the token does not cover. */
  async #startOf({
    chat,
    token,
    message,
    before,
    signal,
  }: BackfillRequest): Promise<
    "no_time_lookup" | "nothing_older" | { from: string | undefined; events: readonly unknown[] }
  > {
    if (token !== undefined) return { from: token, events: [] };
    if (message !== undefined) {
      const context = await this.#contextOf(chat, message, signal).catch(unlessRefused);
      if (context?.start !== undefined) return { from: context.start, events: [] };
    }
    if (before === undefined) return { from: undefined, events: [] };
    let nearest: string;
    try {
      const query = { ts: before - 1, dir: "b" };
      const path = ["v1", "rooms", chat, "timestamp_to_event"];
      ({ event_id: nearest } = await this.#server.call(path, { query, result: wire.nearest, signal }));
    } catch (error) {
      if (!(error instanceof MatrixRefusal) || error.kind !== "refused") throw error;
      return error.errcode === "M_NOT_FOUND" ? "nothing_older" : "no_time_lookup";
    }
    const { start, event } = await this.#contextOf(chat, nearest, signal);
    return start === undefined ? "no_time_lookup" : { from: start, events: event === undefined ? [] : [event] };
  }

  #contextOf(chat: string, event: string, signal: AbortSignal): Promise<z.infer<typeof wire.context>> {
    const path = ["v3", "rooms", chat, "context", event];
    return this.#server.call(path, { query: { limit: 0 }, result: wire.context, signal });
  }
}

const FILTER = JSON.stringify({
  room: { timeline: { limit: TIMELINE }, state: { lazy_load_members: true }, ephemeral: { types: ["m.receipt"] } },
  presence: { not_types: ["*"] },
});

/** The checkpoint is stored with the last batch. */
async function commitAll(
  context: SourceContext,
  events: readonly SourceEvent[],
  checkpoint: SourceEvent,
): Promise<void> {
  let at = 0;
  for (; events.length - at > BATCH; at += BATCH) await commit(context, events.slice(at, at + BATCH));
  await commit(context, [...events.slice(at), checkpoint]);
}

/** Marks the history before these events as not fetched. */
function unfetchedBefore(
  chat: string,
  token: string | undefined,
  raws: readonly unknown[],
  now: number,
): readonly SourceEvent[] {
  if (token === undefined) return [];
  const oldest = wire.event.safeParse(raws[0]);
  return [{ type: "unfetched", chat, to: oldest.success ? oldest.data.origin_server_ts : now, token }];
}

function stateOf(raw: unknown): StateEvent[] {
  const event = wire.stateEvent.safeParse(raw);
  return event.success && event.data.state_key !== undefined ? [event.data] : [];
}

/** Ignores a rejection: the event was removed or is not visible to the user. */
function unlessRefused(error: unknown): undefined {
  if (asFailure(error).kind !== "refused") throw error;
}
