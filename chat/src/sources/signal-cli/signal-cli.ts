// Signal through a signal-cli daemon. Signal keeps no history for linked devices: what comes is stored from now on. Older
// daemons tell everything once, so a batch that the store refuses is kept here and offered again.

import type { z } from "zod";
import { ChatError, invalid } from "../../errors.ts";
import { CHANGES, type ChatSource, type SendRequest, type SourceContext, type SourceEvent } from "../../source.ts";
import { asFailure, SourceFailure } from "../failure.ts";
import { createDeadline, parseJson } from "../http.ts";
import { SentOnce, type Sent } from "../sent-once.ts";
import type { SseEvent } from "../sse.ts";
import { commitAtLast, stayConnected } from "../stay-connected.ts";
import { REAL_TIMING, type Timing } from "../timing.ts";
import { Daemon, IO_ERROR, NO_SUCH_METHOD, SignalCliRefusal, UNTRUSTED_KEY } from "./daemon.ts";
import { Revisions } from "./revisions.ts";
import { contactEvents, messageId, SELF, toEvents } from "./to-events.ts";
import { wire } from "./wire.ts";

export interface SignalCliOptions {
  readonly id: string;
  readonly name?: string;
  /** Of the daemon, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** The number, where the daemon has several accounts. */
  readonly account?: string;
  readonly timing?: Timing;
  /** The daemon says something every 15 s. After so long a silence it is gone. */
  readonly silenceMs?: number;
}

const SILENCE_MS = 45_000;
/** Of what the daemon tells, in one commit. */
const BATCH = 200;

export const createSignalCli = (options: SignalCliOptions): ChatSource => new SignalCli(options);

class SignalCli implements ChatSource {
  readonly id: string;
  readonly kind = "signal-cli";
  readonly name: string;
  readonly capabilities = { history: "from_link", stream: true, backfill: false, send: true, tells: CHANGES } as const;
  readonly #daemon: Daemon;
  readonly #account: string | undefined;
  readonly #timing: Timing;
  readonly #silenceMs: number;
  readonly #sent = new SentOnce();
  #session: Session | undefined;

  constructor({ id, name = "Signal", url, account, timing = REAL_TIMING, silenceMs = SILENCE_MS }: SignalCliOptions) {
    this.id = id;
    this.name = name;
    this.#daemon = new Daemon(url);
    this.#account = account;
    this.#timing = timing;
    this.#silenceMs = silenceMs;
  }

  async run(context: SourceContext): Promise<void> {
    if (!this.#daemon.isLoopback) {
      context.log.warn("signal-cli asks nobody for a password: whoever reaches its address reads and writes as you");
    }
    const session = new Session(context, this.#timing);
    this.#session = session;
    await stayConnected(context, {
      attempt: (connected) => this.#listen(context, session, connected),
      howToConnect,
      timing: this.#timing,
    });
    this.#session = undefined;
  }

  async send({ chat, text, replyTo, idempotencyKey }: SendRequest): Promise<Sent> {
    if (text === "") throw invalid("text", "An empty message cannot be sent");
    return this.#sent.send(idempotencyKey, () => this.#sendNow(chat, text, replyTo));
  }

  async #listen(context: SourceContext, session: Session, connected: () => void): Promise<void> {
    const { signal } = context;
    await this.#daemon.check(signal);
    const account = await this.#findAccount(signal);
    const deadline = createDeadline(signal, this.#silenceMs);
    try {
      // Open before the lists are asked for: what comes meanwhile waits in it.
      const batches = await this.#daemon.events({ account, after: session.lastEventId }, deadline);
      await this.#introduce(account, session, signal, () => deadline.putOff());
      connected();
      for await (const events of batches) {
        // While the store has no room, what the daemon says waits unread.
        deadline.hold();
        for (let at = 0; at < events.length; at += BATCH) await session.take(events.slice(at, at + BATCH));
        deadline.putOff();
      }
    } finally {
      deadline.clear();
    }
  }

  /** A daemon for one account has no list of them, and takes no name of one. */
  async #findAccount(signal: AbortSignal): Promise<string | undefined> {
    const accounts = await this.#ask("listAccounts", {}, wire.accounts, signal);
    if (accounts === undefined) return undefined;
    const [only] = accounts;
    if (this.#account === undefined && accounts.length > 1) {
      throw new SourceFailure("refused", "signal-cli has several accounts; the settings must name one");
    }
    const isThere = accounts.some(({ number }) => number === (this.#account ?? only?.number));
    if (!isThere) throw new SourceFailure("unauthorized", "signal-cli has no such account linked");
    return this.#account ?? only?.number;
  }

  /** Names of people and groups, and who we are. */
  async #introduce(
    account: string | undefined,
    session: Session,
    signal: AbortSignal,
    onProgress: () => void,
  ): Promise<void> {
    const params = account === undefined ? {} : { account };
    if (account !== undefined) {
      // Asks Signal's servers: without them the number has to do until a message of our own comes.
      const status = await this.#ask("getUserStatus", { ...params, recipient: [account] }, wire.statuses, signal);
      session.addOwn(account, status?.[0]?.uuid);
      onProgress();
    }
    const contacts = (await this.#ask("listContacts", params, wire.contacts, signal)) ?? [];
    onProgress();
    const groups = (await this.#ask("listGroups", params, wire.groups, signal)) ?? [];
    onProgress();
    const chats = groups.map(({ id, name, members }): SourceEvent => {
      const count = members?.length ?? 0;
      const known = {
        ...(name === null || name === undefined ? {} : { name }),
        ...(count === 0 ? {} : { participantCount: count }),
      };
      return { type: "chat", chat: { id, type: "group", ...known } };
    });
    const known = [...contactEvents(contacts, session.own), ...chats];
    for (let at = 0; at < known.length; at += BATCH) await session.commit(known.slice(at, at + BATCH));
    await session.begin();
  }

  /** Undefined where the daemon cannot answer: it is a matter of names, and the stream goes on without. */
  async #ask<T extends z.ZodType>(
    method: string,
    params: Readonly<Record<string, unknown>>,
    result: T,
    signal: AbortSignal,
  ): Promise<z.infer<T> | undefined> {
    try {
      return await this.#daemon.call(method, params, { result, signal });
    } catch (error) {
      if (error instanceof SignalCliRefusal && (error.code === NO_SUCH_METHOD || error.code === IO_ERROR))
        return undefined;
      throw error;
    }
  }

  async #sendNow(chat: string, text: string, replyTo: string | undefined): Promise<Sent> {
    // Not the run's signal: what was asked for goes out even while the source stops.
    const { signal } = new AbortController();
    const account = await this.#findAccount(signal).catch((error: unknown) => {
      throw notConnected(asFailure(error));
    });
    try {
      const params = {
        ...(account === undefined ? {} : { account }),
        ...receiver(chat),
        ...quoteOf(replyTo, account ?? [...(this.#session?.own ?? [])][0]),
        message: text,
      };
      const { timestamp, results } = await this.#daemon.call("send", params, { result: wire.sent, signal });
      if (results.length > 0 && results.every(({ type }) => type !== "SUCCESS")) {
        throw new ChatError("SEND_NOT_ALLOWED", `Signal did not deliver the message: ${results[0]?.type ?? "unknown"}`);
      }
      // The daemon does not tell its own clients what they said.
      await this.#session?.sent(chat, text, timestamp);
      return { id: messageId(SELF, timestamp), at: timestamp };
    } catch (error) {
      throw toChatError(error);
    }
  }
}

/** What a run knows: who we are, what was committed, which revisions there are. */
class Session {
  readonly #own: Set<string>;
  #lastEventId: string | undefined;
  /** When we last heard from the daemon. */
  #seenAt: number | undefined;
  readonly #revisions: Revisions;
  readonly #context: SourceContext;
  readonly #timing: Timing;

  constructor(context: SourceContext, timing: Timing) {
    const { own = "", lastEventId, seenAt, revisions } = context.checkpoint;
    this.#own = new Set(own.split(" ").filter((address) => address !== ""));
    this.#lastEventId = lastEventId;
    this.#seenAt = seenAt === undefined ? undefined : Number(seenAt);
    this.#revisions = new Revisions(revisions);
    this.#context = context;
    this.#timing = timing;
  }

  /** An unknown id makes the daemon repeat all that it still has. */
  get lastEventId(): string {
    return this.#lastEventId ?? "0";
  }

  /** Connected again. A daemon that gives no ids has told nobody what came meanwhile. */
  async begin(): Promise<void> {
    const now = this.#context.now();
    const from = this.#seenAt;
    this.#seenAt = now;
    if (from === undefined || this.#lastEventId !== undefined) return;
    await this.commit([{ type: "gap", from, to: now, reason: "Nobody listened to signal-cli" }]);
  }

  async take(events: readonly SseEvent[]): Promise<void> {
    const batch = events.flatMap(({ event, data }) => (event === "receive" ? this.#eventsOf(data) : []));
    this.#seenAt = this.#context.now();
    this.#lastEventId = events.at(-1)?.id;
    await this.commit([...batch, { type: "checkpoint", state: this.#state() }]);
  }

  async commit(batch: readonly SourceEvent[]): Promise<void> {
    await commitAtLast(this.#context, batch, this.#timing);
  }

  /** Our own addresses, as far as they are known. */
  get own(): ReadonlySet<string> {
    return this.#own;
  }

  addOwn(...addresses: readonly (string | null | undefined)[]): void {
    for (const address of addresses) if (address !== null && address !== undefined) this.#own.add(address);
  }

  /** Stores what we said ourselves. */
  async sent(chat: string, content: string, at: number): Promise<void> {
    const message = { id: messageId(SELF, at), chat, sender: SELF, at, kind: "text", content } as const;
    try {
      await this.#context.sink([
        { type: "person", person: { id: SELF, isSelf: true } },
        { type: "message", message, origin: "live" },
      ]);
    } catch {
      this.#context.log.warn("A sent message could not be stored");
    }
  }

  #eventsOf(data: string): SourceEvent[] {
    const received = wire.received.safeParse(parseJson(data));
    if (!received.success) {
      this.#context.log.warn("signal-cli told something in an unknown form; it is left out");
      return [];
    }
    const { envelope } = received.data;
    // An envelope that tells of our own messages comes from ourselves.
    if (envelope?.syncMessage) this.addOwn(envelope.sourceUuid, envelope.sourceNumber);
    return toEvents(received.data, { own: this.#own, revisions: this.#revisions });
  }

  #state(): Record<string, string> {
    return {
      own: [...this.#own].join(" "),
      ...(this.#lastEventId === undefined ? {} : { lastEventId: this.#lastEventId }),
      seenAt: String(this.#seenAt),
      revisions: String(this.#revisions),
    };
  }
}

/** A UUID, a number or a username; a group's id is none of these. */
const IS_PERSON = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\+\d+|u:.+)$/i;

function receiver(chat: string): Readonly<Record<string, unknown>> {
  if (chat === SELF) return { noteToSelf: true };
  return IS_PERSON.test(chat) ? { recipient: [chat] } : { groupId: chat };
}

function quoteOf(
  replyTo: string | undefined,
  own: string | undefined,
): { quoteAuthor?: string; quoteTimestamp?: number } {
  if (replyTo === undefined) return {};
  const colon = replyTo.lastIndexOf(":");
  const quoteTimestamp = Number(replyTo.slice(colon + 1));
  if (colon < 1 || !Number.isSafeInteger(quoteTimestamp))
    throw invalid("replyTo", `'${replyTo}' is no message of Signal`);
  const author = replyTo.slice(0, colon);
  return { quoteAuthor: author === SELF ? (own ?? author) : author, quoteTimestamp };
}

function howToConnect({ kind }: SourceFailure): string {
  if (kind === "unauthorized")
    return "Link this device: run `signal-cli link -n plugboard` and scan the code with Signal on the phone.";
  return "Start the daemon: `signal-cli daemon --http 127.0.0.1:8080 --receive-mode on-connection`.";
}

const notConnected = (failure: SourceFailure): ChatError =>
  new ChatError("SOURCE_NOT_CONNECTED", failure.message, { hint: howToConnect(failure) });

function toChatError(error: unknown): ChatError {
  if (error instanceof ChatError) return error;
  if (!(error instanceof SignalCliRefusal)) {
    return new ChatError("TIMEOUT", "signal-cli did not answer; whether the message was sent is not known");
  }
  if (error.kind === "rate_limited") return new ChatError("RATE_LIMITED", error.message);
  if (error.code === IO_ERROR) return new ChatError("TIMEOUT", `${error.message}; whether it was sent is not known`);
  if (error.code === UNTRUSTED_KEY) return new ChatError("SEND_NOT_ALLOWED", error.message);
  return new ChatError("INVALID_PARAMETER", error.message, { field: "chat" });
}
