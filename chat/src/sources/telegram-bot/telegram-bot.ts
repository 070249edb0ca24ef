// Telegram through a bot: messages the bot sees from now on, and private chats of connected Business accounts. An update is
// acknowledged only after it is stored.

import { ChatError, invalid } from "../../errors.ts";
import { isAccountChatId, messageNumber, parsePrivateChatId } from "../../identity/telegram.ts";
import {
  CHANGES,
  type ChatSource,
  type SendRequest,
  type SourceContext,
  type SourceEvent,
} from "../../model/source.ts";
import type { SourceFailure } from "../failure.ts";
import { IdempotentSender, type SentMessage } from "../idempotent-send.ts";
import { NetworkSource, type NetworkSourceOptions } from "../network-source.ts";
import { commit } from "../reconnect.ts";
import { BotApi, BotApiRefusal, type BotApiOptions } from "./bot-api.ts";
import { businessConnectionOf, personEvent, toEvents, toMessage, type UpdateContext } from "./to-events.ts";
import { MemberCounts } from "./member-counts.ts";
import { ALLOWED_UPDATES, wire, type Update } from "./wire.ts";

export interface TelegramBotOptions extends BotApiOptions, NetworkSourceOptions {}

const POLL_S = 50;
/** Added to the long poll's own timeout. */
const POLL_MARGIN_MS = 15_000;
const CALL_MS = 30_000;
const BATCH = 100;
const MAX_TEXT = 4096;
/** After a week without updates Telegram restarts update ids at random: an old offset would discard waiting updates. */
const OFFSET_LIFE_MS = 6 * 24 * 3600 * 1000;

export const createTelegramBot = (options: TelegramBotOptions): ChatSource => new TelegramBot(options);

class TelegramBot extends NetworkSource {
  readonly kind = "telegram-bot";
  readonly capabilities = { history: "none", stream: true, backfill: false, send: true, changes: CHANGES } as const;
  readonly #api: BotApi;
  readonly #members: MemberCounts;
  readonly #sent = new IdempotentSender();
  /** Business connection ids by owner id. */
  readonly #connections = new Map<string, string>();
  #bot: string | undefined;
  #context: SourceContext | undefined;

  constructor(options: TelegramBotOptions) {
    super(options, "Telegram bot");
    this.#api = new BotApi(options);
    this.#members = new MemberCounts(this.#api);
  }

  async run(context: SourceContext): Promise<void> {
    this.#context = context;
    const position = new Checkpoint(context.checkpoint);
    for (const [owner, connection] of position.connections()) this.#connections.set(owner, connection);
    await this.stayConnected(context, (connected) => this.#poll(context, position, connected));
    this.#context = undefined;
  }

  async send(request: SendRequest): Promise<SentMessage> {
    const { text, idempotencyKey } = request;
    if (text === "" || text.length > MAX_TEXT) throw invalid("text", `Telegram takes 1 to ${MAX_TEXT} characters`);
    return this.#sent.send(idempotencyKey, () => this.#sendNow(request));
  }

  /** The bot reaches private chats of the user's account through a Business connection only. */
  sendsTo(chat: string): boolean {
    return !isAccountChatId(chat) || this.#connections.size > 0;
  }

  protected howToConnect({ kind }: SourceFailure): string {
    if (kind === "unauthorized") {
      return "Ask @BotFather for the bot's token (/token) and put it into the source's settings.";
    }
    if (kind === "conflict") return "Stop the other program that reads this bot's updates, or delete its webhook.";
    return "Check the network and the API root. The connection is retried automatically.";
  }

  async #poll(context: SourceContext, position: Checkpoint, connected: () => void): Promise<void> {
    const { signal } = context;
    const me = await this.#api.call("getMe", {}, { result: wire.user, timeoutMs: CALL_MS, signal });
    this.#bot = String(me.id);
    await commit(context, [personEvent(me, this.#bot)]);
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
        { result: wire.updates, timeoutMs: POLL_S * 1000 + POLL_MARGIN_MS, signal },
      );
      if (updates.length > 0) await this.#storeUpdates(updates, context, position);
      const counted = await this.#members.fetchNext(context.now(), signal);
      if (counted.length > 0) await commit(context, counted);
    }
  }

  async #storeUpdates(updates: readonly unknown[], context: SourceContext, position: Checkpoint): Promise<void> {
    const events: SourceEvent[] = [];
    let next: number | undefined;
    for (const raw of updates) {
      const numbered = wire.anyUpdate.safeParse(raw);
      if (numbered.success) next = numbered.data.update_id + 1;
      const update = wire.update.safeParse(raw);
      if (update.success) events.push(...(await this.#eventsOf(update.data, context)));
      else context.log.warn(`Skipped update ${(next ?? 0) - 1}: unknown format`);
    }
    if (next === undefined) throw new BotApiRefusal(502, "Telegram sent updates in an unknown format");
    const state = position.after(next, this.#connections, context.now());
    await commit(context, [...events, { type: "checkpoint", state }]);
    position.commit(state);
  }

  async #eventsOf(update: Update, context: SourceContext): Promise<SourceEvent[]> {
    const changed = update.business_connection;
    if (changed !== undefined) this.#connections.set(String(changed.user.id), changed.id);
    const connection = businessConnectionOf(update);
    if (connection !== undefined) await this.#fetchConnection(connection, context.signal);
    const events = toEvents(update, await this.#updateContext(context.now()));
    const message = update.message ?? update.channel_post;
    const found = events.find((event) => event.type === "chat");
    if (message !== undefined && found !== undefined) this.#members.request(message.chat, found.chat.id, context.now());
    return events;
  }

  async #updateContext(now: number): Promise<UpdateContext> {
    return { bot: await this.#botId(), ownerOf: (id) => this.#ownerOf(id), now };
  }

  async #botId(): Promise<string> {
    if (this.#bot === undefined) {
      const call = { result: wire.user, timeoutMs: CALL_MS, signal: new AbortController().signal };
      this.#bot = String((await this.#api.call("getMe", {}, call)).id);
    }
    return this.#bot;
  }

  #ownerOf(connection: string): string | undefined {
    for (const [owner, id] of this.#connections) if (id === connection) return owner;
    return undefined;
  }

  /** Looks up a connection made before this run. */
  async #fetchConnection(connection: string, signal: AbortSignal): Promise<void> {
    if (this.#ownerOf(connection) !== undefined) return;
    const params = { business_connection_id: connection };
    const call = { result: wire.businessConnection, timeoutMs: CALL_MS, signal };
    try {
      const { user, id } = await this.#api.call("getBusinessConnection", params, call);
      this.#connections.set(String(user.id), id);
    } catch (error) {
      // The connection has ended: its chats keep its id.
      if (!(error instanceof BotApiRefusal) || error.code !== 400) throw error;
    }
  }

  async #sendNow({ text, replyTo, ...chat }: SendRequest): Promise<SentMessage> {
    const params = {
      ...this.#receiver(chat),
      text,
      ...(replyTo === undefined ? {} : { reply_parameters: { message_id: messageNumber(replyTo) } }),
    };
    // Not the run's signal: a requested message is sent even while the source stops.
    const call = { result: wire.message, timeoutMs: CALL_MS, signal: new AbortController().signal };
    const message = await this.#api.call("sendMessage", params, call).catch((error: unknown) => {
      throw this.#toChatError(error);
    });
    // Bots get no updates for their own messages.
    const context = this.#context;
    const native = toMessage(message, await this.#updateContext(0));
    await context?.sink([{ type: "message", message: native, origin: "live" }]).catch(() => {
      context.log.warn("Could not store a sent message");
    });
    return { id: native.id, at: native.at };
  }

  #toChatError(error: unknown): ChatError {
    if (!(error instanceof BotApiRefusal)) {
      return new ChatError("TIMEOUT", "Telegram did not answer; it is unknown whether the message was sent");
    }
    const { kind, code, message, retryAfterMs } = error;
    if (kind === "rate_limited")
      return new ChatError("RATE_LIMITED", message, { retry_after_s: (retryAfterMs ?? 1000) / 1000 });
    if (kind === "unreachable") return new ChatError("TIMEOUT", `${message}; it is unknown whether it was sent`);
    if (code === 403) return new ChatError("SEND_NOT_ALLOWED", message);
    if (kind === "unauthorized") return this.notConnected(message, error);
    return new ChatError("INVALID_PARAMETER", message, { field: "chat" });
  }

  #receiver({ chat, otherIds = [] }: Pick<SendRequest, "chat" | "otherIds">): {
    readonly chat_id: number;
    readonly business_connection_id?: string;
  } {
    const known = [chat, ...otherIds].map(parsePrivateChatId).find((found) => found?.via === "business");
    const own = parsePrivateChatId(chat);
    const id = Number((known ?? own)?.user ?? chat);
    if (!Number.isSafeInteger(id)) throw invalid("chat", `'${chat}' is not a Telegram chat id`);
    if (known !== undefined) {
      return { chat_id: id, business_connection_id: this.#connections.get(known.account) ?? known.account };
    }
    if (!isAccountChatId(chat)) return { chat_id: id };
    const [connection, ...others] = this.#connections.values();
    if (connection !== undefined && others.length === 0) return { chat_id: id, business_connection_id: connection };
    throw invalid(
      "chat",
      `'${chat}' is a private chat of your own account, where the bot cannot write`,
      `Connect the bot to your account under Business > Chatbots, or write to its own chat, bot:${this.#bot ?? "BOT"}:${chat}`,
    );
  }
}

/** Acknowledged offset and Business connections. */
class Checkpoint {
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
