// Fetches member counts of groups and channels, which updates lack: a few chats per poll, each once a day, paused while rate
// limited.

import { evictOldest } from "@plugboard/shared/evict";
import type { SourceEvent } from "../../model/source.ts";
import { SourceFailure } from "../failure.ts";
import type { BotApi } from "./bot-api.ts";
import { wire, type Chat } from "./wire.ts";

const MAX_AT_ONCE = 3;
const MAX_KNOWN = 1000;
const FRESH_MS = 24 * 3_600_000;
const CALL_MS = 5000;

export class MemberCounts {
  readonly #api: BotApi;
  /** Chats without a recent count: Bot API id to our id. */
  readonly #queue = new Map<number, string>();
  /** Time of the last request. */
  readonly #askedAt = new Map<number, number>();
  #notBefore = 0;

  constructor(api: BotApi) {
    this.#api = api;
  }

  /** Queues a chat that has sent a message. */
  request({ id, type }: Chat, chat: string, now: number): void {
    if (type === "private" || this.#queue.size >= MAX_KNOWN) return;
    if (now - (this.#askedAt.get(id) ?? -Infinity) >= FRESH_MS) this.#queue.set(id, chat);
  }

  /** Fetches the next few counts. Throws if the connection is lost. */
  async fetchNext(now: number, signal: AbortSignal): Promise<SourceEvent[]> {
    const events: SourceEvent[] = [];
    for (const [id, chat] of [...this.#queue].slice(0, MAX_AT_ONCE)) {
      if (now < this.#notBefore || signal.aborted) break;
      this.#queue.delete(id);
      this.#remember(id, now);
      try {
        const call = { result: wire.memberCount, timeoutMs: CALL_MS, signal };
        const participantCount = await this.#api.call("getChatMemberCount", { chat_id: id }, call);
        events.push({ type: "chat", chat: { id: chat, participantCount } });
      } catch (error) {
        if (!(error instanceof SourceFailure) || error.kind === "unreachable") throw error;
        // The bot may have been removed or lack the right: retry in a day.
        if (error.kind === "rate_limited") this.#notBefore = now + (error.retryAfterMs ?? CALL_MS);
      }
    }
    return events;
  }

  #remember(id: number, now: number): void {
    this.#askedAt.delete(id);
    this.#askedAt.set(id, now);
    evictOldest(this.#askedAt, MAX_KNOWN);
  }
}
