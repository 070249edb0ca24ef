// XMPP: one account and its rooms. If the server has an archive, a live message only triggers a fetch, and all messages are read
// from the archive in order: nothing is missed between live and history, and every message has the archive's id. Without an
// archive, live messages are stored directly.

import { xml } from "@xmpp/client";
import { ChatError } from "../../errors.ts";
import {
  CHANGES,
  type BackfilledPage,
  type BackfillRequest,
  type ChatSource,
  type SendRequest,
  type SourceContext,
  type SourceEvent,
} from "../../model/source.ts";
import { SourceFailure } from "../failure.ts";
import { IdempotentSender, type SentMessage } from "../idempotent-send.ts";
import { NetworkSource, type NetworkSourceOptions } from "../network-source.ts";
import { commit } from "../reconnect.ts";
import { PAGE, queryArchive, type ArchivedMessage, type ArchiveQuery } from "./archive.ts";
import { WorkQueue, type Work } from "./work-queue.ts";
import { References } from "./references.ts";
import { Session, type Login } from "./session.ts";
import { attr, bare, NS, resource, senderId, stanzaId, type Element } from "./stanza.ts";
import { contextOf, Reactions, referenceOf, toEvents, type MessageContext } from "./to-events.ts";

export interface XmppOptions extends Login, NetworkSourceOptions {
  readonly rooms?: readonly { readonly jid: string; readonly nick?: string }[];
  /** Days of history read on the first connection; older messages by `backfill`. */
  readonly historyDays?: number;
}

const HISTORY_DAYS = 30;
const DAY_MS = 24 * 3600 * 1000;
const SEND_MS = 30_000;
const MAX_BACKFILL = 250;

interface Room {
  readonly jid: string;
  readonly nick: string;
}

/** The account's archive if `room` is undefined. */
interface Archive {
  readonly room: Room | undefined;
  readonly exists: boolean;
}

export const createXmpp = (options: XmppOptions): ChatSource => new Xmpp(options);

class Xmpp extends NetworkSource {
  readonly kind = "xmpp";
  readonly capabilities = { history: "window", stream: true, backfill: true, send: true, changes: CHANGES } as const;
  readonly #login: Login;
  readonly #rooms: readonly Room[];
  readonly #historyMs: number;
  readonly #references = new References();
  readonly #reactions = new Reactions();
  readonly #sent = new IdempotentSender();
  /** Sent messages that are not yet in the archive, by the id we gave them. */
  readonly #unconfirmed = new Map<string, (sent: SentMessage) => void>();
  #live: Live | undefined;

  constructor({ rooms = [], historyDays = HISTORY_DAYS, ...options }: XmppOptions) {
    super(options, "XMPP");
    this.#login = options;
    this.#rooms = rooms.map(({ jid, nick = options.jid.split("@", 1)[0] ?? "me" }) => ({ jid, nick }));
    this.#historyMs = historyDays * DAY_MS;
  }

  async run(context: SourceContext): Promise<void> {
    const position = new Map(Object.entries(context.checkpoint));
    await this.stayConnected(context, (connected) => this.#listen(context, position, connected));
  }

  async backfill({ chat, token, message, before, limit }: BackfillRequest): Promise<BackfilledPage> {
    const live = this.#connection();
    const room = this.#rooms.find(({ jid }) => jid === chat);
    const max = Math.min(limit, MAX_BACKFILL);
    const scope = { max, ...(room === undefined ? { with: chat } : {}) };
    const older = (query: ArchiveQuery) => queryArchive(live.session.client, room?.jid, { ...scope, ...query });
    const mark = token ?? message;
    const page =
      (mark === undefined ? undefined : await older({ before: mark })) ??
      // Fall back to the time if there is no id or the archive no longer has it.
      (await older({ before: "", ...(before === undefined ? {} : { end: before }) }));
    const messages = page?.messages ?? [];
    await this.#resolve(messages, live, room);
    await live.context.sink(messages.flatMap((archived) => this.#eventsOf(archived, live, room, "backfill")));
    const [oldest] = messages;
    return {
      status: "page",
      exhausted: page?.isLast ?? true,
      ...(oldest === undefined ? {} : { reachedAt: oldest.at, token: oldest.id }),
    };
  }

  send(request: SendRequest): Promise<SentMessage> {
    return this.#sent.send(request.idempotencyKey, () => this.#sendNow(request));
  }

  protected howToConnect({ kind }: SourceFailure): string {
    if (kind === "unauthorized") return "Put the account's address and password into the source's settings.";
    return "Check the server's address and that it offers encryption. The connection is retried automatically.";
  }

  async #listen(context: SourceContext, position: Map<string, string>, connected: () => void): Promise<void> {
    const session = await Session.open(this.#login, context.signal);
    const onAbort = (): void => session.close();
    context.signal.addEventListener("abort", onAbort, { once: true });
    const live = {
      session,
      context,
      position,
      inbox: new WorkQueue(session.lost),
      archives: new Map<string, Archive>(),
    };
    session.client.on("stanza", (stanza) => onStanza(stanza, live));
    const work = this.#serve(live, connected);
    try {
      await Promise.race([session.lost, work]);
    } finally {
      this.#live = undefined;
      context.signal.removeEventListener("abort", onAbort);
      session.close();
      // Wait for a commit in progress: the next connection continues after it.
      await work.catch(() => undefined);
    }
  }

  async #serve(live: Live, connected: () => void): Promise<void> {
    const { session, inbox } = live;
    await session.ask(xml("iq", { type: "set" }, xml("enable", { xmlns: NS.carbons }))).catch(noSuchFeature);
    await commit(live.context, [
      { type: "person", person: { id: session.self, isSelf: true } },
      ...(await this.#roster(live)),
    ]);
    await this.#openArchive(live, undefined);
    for (const room of this.#rooms) await this.#openArchive(live, room);
    this.#live = live;
    connected();
    for (;;) await this.#process(await inbox.next(), live);
  }

  /** Checks for an archive and reads it up to now. */
  async #openArchive(live: Live, room: Room | undefined): Promise<void> {
    const { session, context, archives } = live;
    const jid = room?.jid ?? session.self;
    const { features, name } = await session.discover(jid).catch(noInformation);
    archives.set(jid, { room, exists: features.has(NS.mam) });
    // Subscribe before reading the archive, so that nothing is missed in between.
    if (room === undefined) await session.client.send(xml("presence"));
    else await join(session, room);
    if (room !== undefined) {
      await commit(context, [
        { type: "chat", chat: { id: jid, type: "group", name: name ?? jid.split("@", 1)[0] ?? jid } },
      ]);
    }
    // Messages since the last run are announced as new, older history is not.
    if (features.has(NS.mam))
      await this.#readArchive(live, jid, room, live.position.has(`id ${jid}`) ? "live" : "backfill");
    else context.log.info(`${jid} has no archive: only messages received while connected are stored`);
  }

  async #process(work: Work, live: Live): Promise<void> {
    const room = live.archives.get(work.archive)?.room;
    if (work.kind === "fetch") return this.#readArchive(live, work.archive, room, "live");
    const { message } = work;
    const archived = { id: senderId(message) ?? String(live.context.now()), at: live.context.now(), message };
    await commit(live.context, this.#eventsOf(archived, live, room, "live"));
  }

  /** Reads the archive from the checkpoint to the end. */
  async #readArchive(live: Live, jid: string, room: Room | undefined, origin: "live" | "backfill"): Promise<void> {
    const { session, context, position } = live;
    for (;;) {
      const page =
        (await queryArchive(session.client, room?.jid, this.#nextPage(live, jid, false))) ??
        // The server no longer has the id: fall back to the time.
        (await queryArchive(session.client, room?.jid, this.#nextPage(live, jid, true)));
      const last = page?.messages.at(-1);
      if (page === undefined || last === undefined) break;
      await this.#resolve(page.messages, live, room);
      const events = page.messages.flatMap((archived) => this.#eventsOf(archived, live, room, origin));
      const next = new Map(position).set(`id ${jid}`, last.id).set(`at ${jid}`, String(last.at));
      await commit(context, [...events, { type: "checkpoint", state: Object.fromEntries(next) }]);
      position.set(`id ${jid}`, last.id).set(`at ${jid}`, String(last.at));
      this.#confirmSent(page.messages, live, room);
      if (page.isLast) break;
    }
  }

  #nextPage({ position, context }: Live, jid: string, isByTime: boolean): ArchiveQuery {
    const after = position.get(`id ${jid}`);
    if (after !== undefined && !isByTime) return { after };
    return { start: Number(position.get(`at ${jid}`) ?? context.now() - this.#historyMs) };
  }

  /** Reads the previous page if these messages refer to unknown ones. */
  async #resolve(messages: readonly ArchivedMessage[], live: Live, room: Room | undefined): Promise<void> {
    const unknown = messages.find(({ message }) => {
      const messageContext = contextOf(message, readerOf(live, room));
      const target = referenceOf(message);
      return (
        messageContext !== undefined &&
        target !== undefined &&
        this.#references.find(messageContext.chat, target) === undefined
      );
    });
    const first = messages[0];
    if (unknown === undefined || first === undefined) return;
    const earlier = await queryArchive(live.session.client, room?.jid, { before: first.id, max: PAGE });
    for (const { id, message } of earlier?.messages ?? []) {
      const messageContext = contextOf(message, readerOf(live, room));
      if (messageContext !== undefined)
        this.#references.add(messageContext.chat, { id, senderId: senderId(message), sender: messageContext.sender });
    }
  }

  #eventsOf(archived: ArchivedMessage, live: Live, room: Room | undefined, origin: "live" | "backfill"): SourceEvent[] {
    const reader = { ...readerOf(live, room), references: this.#references, reactions: this.#reactions, origin };
    const messageContext = contextOf(archived.message, reader);
    const events = messageContext === undefined ? [] : toEvents(archived, messageContext, reader);
    return messageContext === undefined || events.length === 0
      ? []
      : [...contextEvents(messageContext, room), ...events];
  }

  #confirmSent(messages: readonly ArchivedMessage[], live: Live, room: Room | undefined): void {
    if (this.#unconfirmed.size === 0) return;
    for (const { id, at, message } of messages) {
      if (contextOf(message, readerOf(live, room))?.isSelf === true)
        this.#unconfirmed.get(senderId(message) ?? "")?.({ id, at });
    }
  }

  async #roster({ session }: Live): Promise<SourceEvent[]> {
    const answer = await session
      .ask(xml("iq", { type: "get" }, xml("query", { xmlns: NS.roster })))
      .catch(noSuchFeature);
    const items = answer?.getChild("query", NS.roster)?.getChildren("item") ?? [];
    return items.flatMap((item): SourceEvent[] => {
      const [id, name] = [attr(item, "jid"), attr(item, "name")];
      if (id === undefined || name === undefined) return [];
      return [
        { type: "person", person: { id, name } },
        { type: "chat", chat: { id, type: "direct", name } },
      ];
    });
  }

  #connection(): Live {
    if (this.#live !== undefined) return this.#live;
    throw this.notConnected();
  }

  async #sendNow({ chat, text, replyTo, idempotencyKey }: SendRequest): Promise<SentMessage> {
    const { session, inbox, archives, context } = this.#connection();
    const room = this.#rooms.find(({ jid }) => jid === chat);
    const message = xml(
      "message",
      { to: chat, type: room === undefined ? "chat" : "groupchat", id: idempotencyKey },
      xml("body", {}, text),
      xml("origin-id", { xmlns: NS.sid, id: idempotencyKey }),
      ...(replyTo === undefined ? [] : [this.#reply(chat, replyTo, room)]),
    );
    const archive = room?.jid ?? session.self;
    if (archives.get(archive)?.exists !== true) {
      await session.client.send(message);
      const own = xml(
        "message",
        { ...message.attrs, from: room === undefined ? session.self : `${chat}/${room.nick}` },
        ...message.children,
      );
      // Rooms echo our messages, direct chats do not.
      if (room === undefined) inbox.put({ kind: "direct", archive, message: own });
      return { id: idempotencyKey, at: context.now() };
    }
    const found = this.#waitForArchive(idempotencyKey, session.lost);
    await session.client.send(message);
    inbox.put({ kind: "fetch", archive });
    return found;
  }

  /** Replies name the archive id in rooms, and the sender's id in direct chats. */
  #reply(chat: string, id: string, room: Room | undefined): Element {
    const name = room === undefined ? this.#references.nameOf(chat, id) : id;
    return xml("reply", { xmlns: NS.reply, id: name ?? id, to: this.#references.senderOf(chat, id) ?? chat });
  }

  /** Resolves with the archive's id once the sent message appears there. */
  #waitForArchive(name: string, lost: Promise<never>): Promise<SentMessage> {
    const timeout = new ChatError(
      "TIMEOUT",
      "The server did not confirm the message; it is unknown whether it was sent",
    );
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        this.#unconfirmed.delete(name);
      };
      const fail = (): void => {
        settle();
        reject(timeout);
      };
      const timer = setTimeout(fail, SEND_MS);
      this.#unconfirmed.set(name, (sent) => {
        settle();
        resolve(sent);
      });
      lost.catch(fail);
    });
  }
}

/** State of a connection. */
interface Live {
  readonly session: Session;
  readonly context: SourceContext;
  /** Last id and time per archive. */
  readonly position: Map<string, string>;
  readonly inbox: WorkQueue;
  /** By JID. */
  readonly archives: Map<string, Archive>;
}

function readerOf({ session }: Live, room: Room | undefined): { self: string; room?: Room } {
  return room === undefined ? { self: session.self } : { self: session.self, room };
}

/** Messages from other devices arrive as carbon copies and trigger a fetch too. */
function onStanza(stanza: Element, { session, inbox, archives }: Live): void {
  if (!stanza.is("message") || attr(stanza, "type") === "error") return;
  if (stanza.getChild("result", NS.mam) !== undefined) return;
  const from = bare(attr(stanza, "from") ?? session.self);
  const owner = archives.has(from) ? from : session.self;
  const isCopy =
    from === session.self &&
    (stanza.getChild("sent", NS.carbons) ?? stanza.getChild("received", NS.carbons)) !== undefined;
  const isKept = archives.get(owner)?.exists === true;
  if (isKept && (isCopy || stanzaId(stanza, owner) !== undefined)) inbox.put({ kind: "fetch", archive: owner });
  // Without an archive, store the message itself. Delayed messages are a room's history, not new.
  else if (!isCopy && stanza.getChild("delay", NS.delay) === undefined) {
    inbox.put({ kind: "direct", archive: owner, message: stanza });
  }
}

/** Chat and person events of a message. */
function contextEvents({ chat, sender, isSelf }: MessageContext, room: Room | undefined): SourceEvent[] {
  const person = {
    id: sender,
    ...(room === undefined ? {} : { name: resource(sender) }),
    ...(isSelf ? { isSelf: true } : {}),
  };
  const type = chat === sender && isSelf ? "self" : "direct";
  return [
    { type: "chat", chat: { id: chat, ...(room === undefined ? { type } : {}) } },
    { type: "person", person },
  ];
}

const JOIN_MS = 30_000;

/** Resolves when the server confirms our presence in the room. */
function join(session: Session, { jid, nick }: Room): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void): void => {
      clearTimeout(timer);
      session.client.removeListener("stanza", onPresence);
      finish();
    };
    const refuse = (why: string) =>
      settle(() => reject(new SourceFailure("refused", `Could not join room ${jid} (${why})`)));
    const timer = setTimeout(() => refuse("no answer"), JOIN_MS);
    const onPresence = (stanza: Element): void => {
      if (!stanza.is("presence") || bare(attr(stanza, "from") ?? "") !== jid) return;
      if (attr(stanza, "type") === "error")
        return refuse(stanza.getChild("error")?.getChildElements()[0]?.name ?? "refused");
      const codes = stanza.getChild("x", NS.mucUser)?.getChildren("status") ?? [];
      if (codes.some((status) => attr(status, "code") === "110")) settle(resolve);
    };
    session.client.on("stanza", onPresence);
    session.lost.catch((error: unknown) => settle(() => reject(error)));
    const history = xml("history", { maxstanzas: "0" });
    session.client
      .send(xml("presence", { to: `${jid}/${nick}` }, xml("x", { xmlns: NS.muc }, history)))
      .catch((error: unknown) => {
        settle(() => reject(error));
      });
  });
}

/** Optional features; a lost connection is reported elsewhere. */
const noSuchFeature = (): undefined => undefined;
const noInformation = (): { features: ReadonlySet<string>; name: undefined } => ({
  features: new Set(),
  name: undefined,
});
