// Telegram through a bot: what the bot gets to see from now on, and the private chats of Business accounts that let it in. An
// update is acknowledged when it is committed, never before.

import { ChatError, invalid } from "../../errors.ts";
import { CHANGES, type ChatSource, type SendRequest, type SourceContext, type SourceEvent } from "../../source.ts";
import type { SourceFailure } from "../failure.ts";
import { SentOnce, type Sent } from "../sent-once.ts";
import { commit, stayConnected } from "../stay-connected.ts";
import { REAL_TIMING, type Timing } from "../timing.ts";
import { BotApi, BotApiRefusal, type BotApiOptions } from "./bot-api.ts";
import { businessConnectionOf, parseBusinessChatId, personEvent, toEvents, toMessage } from "./to-events.ts";
import { ALLOWED_UPDATES, wire, type Update } from "./wire.ts";

export interface TelegramBotOptions extends BotApiOptions {
  readonly id: string;
  readonly name?: string;
  readonly timing?: Timing;
}

const POLL_S = 50;
/** Of a poll, beyond what Telegram waits by itself. */
const SLACK_MS = 15_000;
const CALL_MS = 30_000;
const BATCH = 100;
const MAX_TEXT = 4096;
/** After a week of silence Telegram may number anew, from anywhere: an old offset would throw away what is waiting. */
const OFFSET_LIFE_MS = 6 * 24 * 3600 * 1000;

export const createTelegramBot = (options: TelegramBotOptions): ChatSource => new TelegramBot(options);

class TelegramBot implements ChatSource {
  readonly id: string;
  readonly kind = "telegram-bot";
  readonly name: string;
  readonly capabilities = { history: "none", stream: true, backfill: false, send: true, tells: CHANGES } as const;
  readonly #api: BotApi;
  readonly #timing: Timing;
  readonly #sent = new SentOnce();
  /** Business connections by the id of their owner. */
  readonly #connections = new Map<string, string>();
  #context: SourceContext | undefined;

  constructor({ id, name = "Telegram bot", timing = REAL_TIMING, ...api }: TelegramBotOptions) {
    this.id = id;
    this.name = name;
    this.#timing = timing;
    this.#api = new BotApi(api);
  }

  async run(context: SourceContext): Promise<void> {
    this.#context = context;
    const position = new Position(context.checkpoint);
    for (const [owner, connection] of position.connections()) this.#connections.set(owner, connection);
    await stayConnected(context, {
      attempt: (connected) => this.#poll(context, position, connected),
      howToConnect,
      timing: this.#timing,
    });
    this.#context = undefined;
  }

  async send({ chat, text, replyTo, idempotencyKey }: SendRequest): Promise<Sent> {
    if (text === "" || text.length > MAX_TEXT) throw invalid("text", `Telegram takes 1 to ${MAX_TEXT} characters`);
    return this.#sent.send(idempotencyKey, () => this.#sendNow(chat, text, replyTo));
  }

  async #poll(context: SourceContext, position: Position, connected: () => void): Promise<void> {
    const { signal } = context;
    const me = await this.#api.call("getMe", {}, { result: wire.user, timeoutMs: CALL_MS, signal });
    await commit(context, [personEvent(me, String(me.id))]);
    connected();
    while (!signal.aborted) {
      const offset = position.offset(context.now());
      const updates = await this.#api.call(
        "getUpdates",
        {
          timeout: POLL_S,
          limit: BATCH,
          allowed_updates: ALLOWED_UPDATES,
          ...(offset === undefined ? {} : { offset }),
        },
        { result: wire.updates, timeoutMs: POLL_S * 1000 + SLACK_MS, signal },
      );
      if (updates.length > 0) await this.#take(updates, context, position);
    }
  }

  async #take(updates: readonly unknown[], context: SourceContext, position: Position): Promise<void> {
    const events: SourceEvent[] = [];
    let next: number | undefined;
    for (const raw of updates) {
      const numbered = wire.anyUpdate.safeParse(raw);
      if (numbered.success) next = numbered.data.update_id + 1;
      const update = wire.update.safeParse(raw);
      if (update.success) events.push(...(await this.#eventsOf(update.data, context)));
      else context.log.warn(`Update ${(next ?? 0) - 1} has an unknown form and is left out`);
    }
    if (next === undefined) throw new BotApiRefusal(502, "Telegram's updates have an unknown form");
    const state = position.after(next, this.#connections, context.now());
    await commit(context, [...events, { type: "checkpoint", state }]);
    position.commit(state);
  }

  async #eventsOf(update: Update, context: SourceContext): Promise<SourceEvent[]> {
    const told = update.business_connection;
    if (told !== undefined) this.#connections.set(String(told.user.id), told.id);
    const connection = businessConnectionOf(update);
    if (connection !== undefined) await this.#learn(connection, context.signal);
    return toEvents(update, { ownerOf: (id) => this.#ownerOf(id), now: context.now() });
  }

  #ownerOf(connection: string): string | undefined {
    for (const [owner, id] of this.#connections) if (id === connection) return owner;
    return undefined;
  }

  /** A connection that was made before we listened. */
  async #learn(connection: string, signal: AbortSignal): Promise<void> {
    if (this.#ownerOf(connection) !== undefined) return;
    const params = { business_connection_id: connection };
    const call = { result: wire.businessConnection, timeoutMs: CALL_MS, signal };
    try {
      const { user, id } = await this.#api.call("getBusinessConnection", params, call);
      this.#connections.set(String(user.id), id);
    } catch (error) {
      // It has ended: its chats are kept under its own id.
      if (!(error instanceof BotApiRefusal) || error.code !== 400) throw error;
    }
  }

  async #sendNow(chat: string, text: string, replyTo: string | undefined): Promise<Sent> {
    const business = parseBusinessChatId(chat);
    const connection = business === undefined ? undefined : (this.#connections.get(business.owner) ?? business.owner);
    const params = {
      chat_id: Number(business?.chat ?? chat),
      text,
      ...(connection === undefined ? {} : { business_connection_id: connection }),
      ...(replyTo === undefined ? {} : { reply_parameters: { message_id: Number(replyTo) } }),
    };
    if (!Number.isSafeInteger(params.chat_id)) throw invalid("chat", `'${chat}' is no chat of Telegram`);
    // Not the run's signal: what was asked for goes out even while the source stops.
    const call = { result: wire.message, timeoutMs: CALL_MS, signal: new AbortController().signal };
    const message = await this.#api.call("sendMessage", params, call).catch((error: unknown) => {
      throw toChatError(error);
    });
    // Telegram does not tell a bot what the bot itself said.
    const context = this.#context;
    const native = toMessage(message, { ownerOf: (id) => this.#ownerOf(id), now: 0 });
    await context?.sink([{ type: "message", message: native, origin: "live" }]).catch(() => {
      context.log.warn("A sent message could not be stored");
    });
    return { id: native.id, at: native.at };
  }
}

/** What is acknowledged, as the checkpoint has it. */
class Position {
  #state: Readonly<Record<string, string>>;

  constructor(state: Readonly<Record<string, string>>) {
    this.#state = state;
  }

  offset(now: number): number | undefined {
    const { offset, at } = this.#state;
    return offset === undefined || now - Number(at) > OFFSET_LIFE_MS ? undefined : Number(offset);
  }

  connections(): [string, string][] {
    const prefix = "business.";
    return Object.entries(this.#state)
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, connection]) => [key.slice(prefix.length), connection]);
  }

  after(next: number, connections: ReadonlyMap<string, string>, now: number): Record<string, string> {
    const business = [...connections].map(([owner, connection]) => [`business.${owner}`, connection]);
    return {
      ...this.#state,
      ...Object.fromEntries(business),
      offset: String(next),
      at: String(now),
    };
  }

  commit(state: Readonly<Record<string, string>>): void {
    this.#state = state;
  }
}

function howToConnect({ kind }: SourceFailure): string {
  if (kind === "unauthorized")
    return "Ask @BotFather for the bot's token (/token) and put it into the source's settings.";
  if (kind === "conflict") return "Stop the other program that reads this bot's updates, or delete its webhook.";
  return "Check the network and the API root; it is tried again by itself.";
}

function toChatError(error: unknown): ChatError {
  if (!(error instanceof BotApiRefusal)) {
    return new ChatError("TIMEOUT", "Telegram did not answer; whether the message was sent is not known");
  }
  const { kind, code, message, retryAfterMs } = error;
  if (kind === "rate_limited")
    return new ChatError("RATE_LIMITED", message, { retry_after_s: (retryAfterMs ?? 1000) / 1000 });
  if (kind === "unreachable") return new ChatError("TIMEOUT", `${message}; whether it was sent is not known`);
  if (code === 403) return new ChatError("SEND_NOT_ALLOWED", message);
  if (kind === "unauthorized") return new ChatError("SOURCE_NOT_CONNECTED", message, { hint: howToConnect(error) });
  return new ChatError("INVALID_PARAMETER", message, { field: "chat" });
}
