// Matrix: the rooms that an account has joined, as far as they are not encrypted. The homeserver's token of the last answer is
// the checkpoint; what a long absence leaves out of the next answer is fetched.

import { ChatError } from "../../errors.ts";
import {
  CHANGES,
  type ChatSource,
  type MessageOrigin,
  type SendRequest,
  type SourceContext,
  type SourceEvent,
} from "../../source.ts";
import { asFailure, type SourceFailure } from "../failure.ts";
import type { Sent } from "../sent-once.ts";
import { commit, stayConnected } from "../stay-connected.ts";
import { REAL_TIMING, type Timing } from "../timing.ts";
import { Homeserver, MatrixRefusal } from "./homeserver.ts";
import { Rooms } from "./rooms.ts";
import { replacedBy, toEvents } from "./to-events.ts";
import { wire, type Event, type Messages, type StateEvent, type SyncRoom } from "./wire.ts";

export interface MatrixOptions {
  readonly id: string;
  readonly name?: string;
  /** Such as `https://matrix.example.org`. */
  readonly url: string;
  readonly accessToken: () => Promise<string>;
  readonly timing?: Timing;
}

const SYNC_MS = 30_000;
const SLACK_MS = 15_000;
/** Of each room at first; and of each answer later. */
const TIMELINE = 50;
const PAGE = 100;
/** After a longer absence the rest is a gap; `backfill` closes it. */
const MAX_MISSED = 2000;
const BATCH = 500;

export const createMatrix = (options: MatrixOptions): ChatSource => new Matrix(options);

class Matrix implements ChatSource {
  readonly id: string;
  readonly kind = "matrix";
  readonly name: string;
  readonly capabilities = { history: "window", stream: true, backfill: true, send: true, tells: CHANGES } as const;
  readonly #server: Homeserver;
  readonly #timing: Timing;
  #live: { readonly context: SourceContext; readonly rooms: Rooms } | undefined;

  constructor({ id, name = "Matrix", url, accessToken, timing = REAL_TIMING }: MatrixOptions) {
    this.id = id;
    this.name = name;
    this.#server = new Homeserver(url, accessToken);
    this.#timing = timing;
  }

  async run(context: SourceContext): Promise<void> {
    const position = { since: context.checkpoint["since"] };
    await stayConnected(context, {
      attempt: (connected) => this.#follow(context, position, connected),
      howToConnect,
      timing: this.#timing,
    });
    this.#live = undefined;
  }

  async backfill(request: {
    chat: string;
    before?: number;
    limit: number;
    signal: AbortSignal;
  }): Promise<{ exhausted: boolean }> {
    const { chat, before, limit, signal } = request;
    const live = this.#live;
    if (live === undefined) throw notConnected(`${this.name} is not connected`);
    const from = before === undefined ? undefined : await this.#placeAt(chat, before, signal);
    const query = { dir: "b", limit: Math.min(limit, PAGE), from };
    const { chunk, end, state } = await this.#server.call(["v3", "rooms", chat, "messages"], {
      query,
      result: wire.messages,
      signal,
    });
    const people = state.flatMap((raw) => stateOf(raw).flatMap((event) => live.rooms.learn(chat, event)));
    const events = await this.#eventsOf(chunk.toReversed(), { chat, rooms: live.rooms, origin: "backfill", signal });
    await live.context.sink([...people, ...events]);
    return { exhausted: end === undefined || chunk.length === 0 };
  }

  async send({ chat, text, replyTo, idempotencyKey }: SendRequest): Promise<Sent> {
    // Not the run's signal: what was asked for goes out even while the source stops.
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
      // The homeserver knows the key, and takes the same one once.
      const path = ["v3", "rooms", chat, "send", "m.room.message", idempotencyKey];
      const sent = await this.#server.call(path, { method: "PUT", body, result: wire.sent, signal });
      return { id: sent.event_id, at: Date.now() };
    } catch (error) {
      throw toChatError(error);
    }
  }

  async #follow(context: SourceContext, position: { since: string | undefined }, connected: () => void): Promise<void> {
    const { signal } = context;
    const { user_id: self } = await this.#server.call(["v3", "account", "whoami"], { result: wire.whoami, signal });
    const rooms = new Rooms(self);
    await commit(context, [{ type: "person", person: { id: self, isSelf: true } }]);
    this.#live = { context, rooms };
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      // The first answer comes at once: then it is known that we are connected.
      const query = { since: position.since, timeout: isFirst ? 0 : SYNC_MS, filter: FILTER };
      const answer = await this.#server.call(["v3", "sync"], {
        query,
        result: wire.sync,
        timeoutMs: SYNC_MS + SLACK_MS,
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
      ? await this.#missed(chat, timeline.prev_batch ?? "", since, context)
      : { events: [], gap: [] };
    const raws = [...missed.events, ...timeline.events];
    const known = [...room.state.events, ...raws].flatMap(stateOf).flatMap((event) => rooms.learn(chat, event));
    if (rooms.isSpace(chat)) return [];
    const origin = since === undefined ? "backfill" : "live";
    const reading = { chat, rooms, origin, signal: context.signal } as const;
    const said = await this.#eventsOf(raws, reading);
    return [...known, rooms.chatEvent(chat, room), ...missed.gap, ...said];
  }

  /** What lies between our last answer and this one's beginning, oldest first. */
  async #missed(
    chat: string,
    from: string,
    since: string,
    { signal, now }: SourceContext,
  ): Promise<{ events: unknown[]; gap: SourceEvent[] }> {
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
    const events = pages.toReversed().flat();
    if (at === undefined) return { events, gap: [] };
    const oldest = wire.event.safeParse(events[0]);
    const to = oldest.success ? oldest.data.origin_server_ts : now();
    return { events, gap: [{ type: "gap", chat, from: 0, to, reason: "More was said than is fetched at once" }] };
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
      const said = toEvents(event.data, chat, rooms, origin);
      const { sender } = event.data;
      if (said.length > 0)
        events.push({ type: "person", person: { id: sender, ...(sender === rooms.self ? { isSelf: true } : {}) } });
      events.push(...said);
    }
    return events;
  }

  /** Whose words are replaced must be known, and may have been said before this run. */
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
      if (asFailure(error).kind !== "refused") throw error;
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

  /** A token for the place in the room at this time. */
  async #placeAt(chat: string, at: number, signal: AbortSignal): Promise<string | undefined> {
    const query = { ts: at, dir: "b" };
    const nearest = await this.#server.call(["v1", "rooms", chat, "timestamp_to_event"], {
      query,
      result: wire.nearest,
      signal,
    });
    const path = ["v3", "rooms", chat, "context", nearest.event_id];
    const { start } = await this.#server.call(path, { query: { limit: 0 }, result: wire.context, signal });
    return start;
  }
}

const FILTER = JSON.stringify({
  room: { timeline: { limit: TIMELINE }, state: { lazy_load_members: true }, ephemeral: { not_types: ["*"] } },
  presence: { not_types: ["*"] },
});

/** The place is committed with the last of them. */
async function commitAll(
  context: SourceContext,
  events: readonly SourceEvent[],
  checkpoint: SourceEvent,
): Promise<void> {
  let at = 0;
  for (; events.length - at > BATCH; at += BATCH) await commit(context, events.slice(at, at + BATCH));
  await commit(context, [...events.slice(at), checkpoint]);
}

function stateOf(raw: unknown): StateEvent[] {
  const event = wire.stateEvent.safeParse(raw);
  return event.success && event.data.state_key !== undefined ? [event.data] : [];
}

function howToConnect({ kind }: SourceFailure): string {
  if (kind === "unauthorized") return "Make a new access token for the account and put it into the source's settings.";
  return "Check the homeserver's address; it is tried again by itself.";
}

const notConnected = (message: string, hint = "Wait until the source is connected."): ChatError =>
  new ChatError("SOURCE_NOT_CONNECTED", message, { hint });

function toChatError(error: unknown): ChatError {
  if (error instanceof ChatError) return error;
  const failure = asFailure(error);
  const { kind, message, retryAfterMs = 1000 } = failure;
  if (kind === "rate_limited") return new ChatError("RATE_LIMITED", message, { retry_after_s: retryAfterMs / 1000 });
  if (kind === "unauthorized") return notConnected(message, howToConnect(failure));
  if (kind === "refused") return new ChatError("SEND_NOT_ALLOWED", message);
  // The same key may be sent again: it is taken once.
  return new ChatError("TIMEOUT", message, { hint: "Send it again with the same key." });
}
