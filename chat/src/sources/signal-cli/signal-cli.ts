// Signal through a signal-cli daemon. Signal keeps no history for linked devices, so messages are stored from now on. Older
// daemons deliver each event once, so storing a batch is retried until it succeeds.

import type { SseEvent } from "@plugboard/shared/streams/sse";
import type { z } from "zod";
import { ChatError, invalid } from "../../errors.ts";
import {
  CHANGES,
  type ChatSource,
  type SendRequest,
  type SourceContext,
  type SourceEvent,
} from "../../model/source.ts";
import { asFailure, SourceFailure } from "../failure.ts";
import { createDeadline } from "../http.ts";
import { parseJson } from "@plugboard/shared/lenient";
import { IdempotentSender, type SentMessage } from "../idempotent-send.ts";
import type { Timing } from "../backoff.ts";
import { NetworkSource, type NetworkSourceOptions } from "../network-source.ts";
import { commitWithRetry } from "../reconnect.ts";
import { daemonCommand } from "./command.ts";
import { Daemon, IO_ERROR, NO_SUCH_METHOD, SignalCliRefusal, UNTRUSTED_KEY } from "./daemon.ts";
import { Revisions } from "./revisions.ts";
import { contactEvents, messageId, SELF, toEvents } from "./to-events.ts";
import { wire } from "./wire.ts";

export interface SignalCliOptions extends NetworkSourceOptions {
  /** URL of the daemon, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Phone number; needed if the daemon has several accounts. */
  readonly account?: string;
  /** Timeout of a silent stream. The daemon sends a keep-alive every 15 s. */
  readonly silenceMs?: number;
}

const SILENCE_MS = 45_000;
/** Events per commit. */
const BATCH = 200;

export const createSignalCli = (options: SignalCliOptions): ChatSource => new SignalCli(options);

class SignalCli extends NetworkSource {
  readonly kind = "signal-cli";
  readonly capabilities = {
    history: "from_link",
    stream: true,
    backfill: false,
    send: true,
    changes: CHANGES,
  } as const;
  readonly #daemon: Daemon;
  /** The command that starts the daemon. */
  readonly #command: string;
  readonly #account: string | undefined;
  readonly #silenceMs: number;
  readonly #sent = new IdempotentSender();
  #session: Session | undefined;

  constructor({ url, account, silenceMs = SILENCE_MS, ...options }: SignalCliOptions) {
    super(options, "Signal");
    this.#daemon = new Daemon(url);
    this.#account = account;
    this.#command = daemonCommand({ url, account });
    this.#silenceMs = silenceMs;
  }

  async run(context: SourceContext): Promise<void> {
    if (!this.#daemon.isLoopback) {
      context.log.warn("signal-cli has no authentication: anyone who can reach its address can read and send as you");
    }
    const session = new Session(context, this.timing);
    this.#session = session;
    await this.stayConnected(context, (connected) => this.#listen(context, session, connected));
    this.#session = undefined;
  }

  async send({ chat, text, replyTo, idempotencyKey }: SendRequest): Promise<SentMessage> {
    if (text === "") throw invalid("text", "An empty message cannot be sent");
    return this.#sent.send(idempotencyKey, () => this.#sendNow(chat, text, replyTo));
  }

  protected howToConnect({ kind }: SourceFailure): string {
    if (kind === "unauthorized")
      return "Link this device: run `signal-cli link -n plugboard` and scan the code with Signal on the phone";
    if (kind === "refused") return "Name one of the daemon's accounts as options.account of the source in chat.json";
    return `Start the daemon: \`${this.#command}\``;
  }

  async #listen(context: SourceContext, session: Session, connected: () => void): Promise<void> {
    const { signal } = context;
    await this.#daemon.check(signal);
    const account = await this.#findAccount(signal);
    const deadline = createDeadline(signal, this.#silenceMs);
    try {
      // Open the stream before loading contacts, so that it buffers new events.
      const batches = await this.#daemon.events({ account, after: session.lastEventId }, deadline);
      await this.#loadContacts(account, session, signal, () => deadline.extend());
      connected();
      for await (const events of batches) {
        // No timeout while waiting for the store.
        deadline.suspend();
        for (let at = 0; at < events.length; at += BATCH) await session.store(events.slice(at, at + BATCH));
        deadline.extend();
      }
    } finally {
      deadline.clear();
    }
  }

  /** Undefined for a single-account daemon, which accepts no account parameter. */
  async #findAccount(signal: AbortSignal): Promise<string | undefined> {
    const accounts = await this.#callOptional("listAccounts", {}, wire.accounts, signal);
    if (accounts === undefined) return undefined;
    const [only] = accounts;
    if (this.#account === undefined && accounts.length > 1) {
      throw new SourceFailure("refused", "signal-cli has several accounts");
    }
    const isLinked = accounts.some(({ number }) => number === (this.#account ?? only?.number));
    if (!isLinked) throw new SourceFailure("unauthorized", "The account is not linked in signal-cli");
    return this.#account ?? only?.number;
  }

  /** Loads the user's own addresses, contacts and groups. */
  async #loadContacts(
    account: string | undefined,
    session: Session,
    signal: AbortSignal,
    onProgress: () => void,
  ): Promise<void> {
    const params = account === undefined ? {} : { account };
    if (account !== undefined) {
      // Needs Signal's servers. Without them only the number is known until a message from another device arrives.
      const status = await this.#callOptional(
        "getUserStatus",
        { ...params, recipient: [account] },
        wire.statuses,
        signal,
      );
      session.addOwn(account, status?.[0]?.uuid);
      onProgress();
    }
    const contacts = (await this.#callOptional("listContacts", params, wire.contacts, signal)) ?? [];
    onProgress();
    const groups = (await this.#callOptional("listGroups", params, wire.groups, signal)) ?? [];
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
    await session.markConnected();
  }

  /** Undefined if the daemon lacks the method or network: contact data is optional. */
  async #callOptional<T extends z.ZodType>(
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

  async #sendNow(chat: string, text: string, replyTo: string | undefined): Promise<SentMessage> {
    // Not the run's signal: a requested message is sent even while the source stops.
    const { signal } = new AbortController();
    const account = await this.#findAccount(signal).catch((error: unknown) => {
      const failure = asFailure(error);
      throw this.notConnected(failure.message, failure);
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
      // The daemon sends no event for messages of its own clients.
      await this.#session?.storeSent(chat, text, timestamp);
      return { id: messageId(SELF, timestamp), at: timestamp };
    } catch (error) {
      throw toChatError(error);
    }
  }
}

/** State of a run: own addresses, position in the stream, revisions. */
class Session {
  readonly #own: Set<string>;
  #lastEventId: string | undefined;
  /** Time of the last event. */
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

  /** An unknown id makes the daemon repeat everything it still has. */
  get lastEventId(): string {
    return this.#lastEventId ?? "0";
  }

  /** Records a gap after a reconnect to a daemon without event ids, which does not deliver missed events. */
  async markConnected(): Promise<void> {
    const now = this.#context.now();
    const from = this.#seenAt;
    this.#seenAt = now;
    if (from === undefined || this.#lastEventId !== undefined) return;
    await this.commit([{ type: "gap", from, to: now, reason: "Not connected to signal-cli" }]);
  }

  async store(events: readonly SseEvent[]): Promise<void> {
    const batch = events.flatMap(({ event, data }) => (event === "receive" ? this.#eventsOf(data.toString()) : []));
    this.#seenAt = this.#context.now();
    this.#lastEventId = events.at(-1)?.id;
    await this.commit([...batch, { type: "checkpoint", state: this.#state() }]);
  }

  async commit(batch: readonly SourceEvent[]): Promise<void> {
    await commitWithRetry(this.#context, batch, this.#timing);
  }

  /** The user's known addresses. */
  get own(): ReadonlySet<string> {
    return this.#own;
  }

  addOwn(...addresses: readonly (string | null | undefined)[]): void {
    for (const address of addresses) if (address !== null && address !== undefined) this.#own.add(address);
  }

  /** Stores a message sent through this source. */
  async storeSent(chat: string, content: string, at: number): Promise<void> {
    const message = { id: messageId(SELF, at), chat, sender: SELF, at, kind: "text", content } as const;
    try {
      await this.#context.sink([
        { type: "person", person: { id: SELF, isSelf: true } },
        { type: "message", message, origin: "live" },
      ]);
    } catch {
      this.#context.log.warn("Could not store a sent message");
    }
  }

  #eventsOf(data: string): SourceEvent[] {
    const received = wire.received.safeParse(parseJson(data));
    if (!received.success) {
      this.#context.log.warn("Skipped an event of signal-cli in an unknown format");
      return [];
    }
    const { envelope } = received.data;
    // A sync message comes from the user's own account.
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

/** A UUID, a number or a username; group ids never match. */
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
    throw invalid("replyTo", `'${replyTo}' is not a Signal message id`);
  const author = replyTo.slice(0, colon);
  return { quoteAuthor: author === SELF ? (own ?? author) : author, quoteTimestamp };
}

function toChatError(error: unknown): ChatError {
  if (error instanceof ChatError) return error;
  if (!(error instanceof SignalCliRefusal)) {
    return new ChatError("TIMEOUT", "signal-cli did not answer; it is unknown whether the message was sent");
  }
  if (error.kind === "rate_limited") return new ChatError("RATE_LIMITED", error.message);
  if (error.code === IO_ERROR) return new ChatError("TIMEOUT", `${error.message}; it is unknown whether it was sent`);
  if (error.code === UNTRUSTED_KEY) return new ChatError("SEND_NOT_ALLOWED", error.message);
  return new ChatError("INVALID_PARAMETER", error.message, { field: "chat" });
}
