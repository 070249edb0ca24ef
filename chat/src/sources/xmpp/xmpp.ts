// XMPP: one account and the rooms that it is to be in. Where the server keeps an archive, a live message only says that there
// is something to fetch, and everything comes from the archive in its order: so nothing is missed between live and history,
// and every message has the archive's id. Where it keeps none, live messages are all there is.

import { xml } from "@xmpp/client";
import { ChatError } from "../../errors.ts";
import { CHANGES, type ChatSource, type SendRequest, type SourceContext, type SourceEvent } from "../../source.ts";
import { SourceFailure } from "../failure.ts";
import { SentOnce, type Sent } from "../sent-once.ts";
import { commit, stayConnected } from "../stay-connected.ts";
import { REAL_TIMING, type Timing } from "../timing.ts";
import { PAGE, queryArchive, type ArchivedMessage, type ArchiveQuery } from "./archive.ts";
import { Inbox, type Work } from "./inbox.ts";
import { References } from "./references.ts";
import { Session, type Login } from "./session.ts";
import { attr, bare, NS, resource, senderId, stanzaId, type Element } from "./stanza.ts";
import { placeOf, Reactions, referenceOf, toEvents, type Place } from "./to-events.ts";

export interface XmppOptions extends Login {
  readonly id: string;
  readonly name?: string;
  readonly rooms?: readonly { readonly jid: string; readonly nick?: string }[];
  /** How much of the archive is read at first; older messages by `backfill`. */
  readonly historyDays?: number;
  readonly timing?: Timing;
}

const HISTORY_DAYS = 30;
const DAY_MS = 24 * 3600 * 1000;
const SEND_MS = 30_000;
const MAX_BACKFILL = 250;

interface Room {
  readonly jid: string;
  readonly nick: string;
}

/** Of the account where it has no room. */
interface Archive {
  readonly room: Room | undefined;
  readonly isKept: boolean;
}

export const createXmpp = (options: XmppOptions): ChatSource => new Xmpp(options);

class Xmpp implements ChatSource {
  readonly id: string;
  readonly kind = "xmpp";
  readonly name: string;
  readonly capabilities = { history: "window", stream: true, backfill: true, send: true, tells: CHANGES } as const;
  readonly #login: Login;
  readonly #rooms: readonly Room[];
  readonly #historyMs: number;
  readonly #timing: Timing;
  readonly #references = new References();
  readonly #reactions = new Reactions();
  readonly #sent = new SentOnce();
  /** Messages of our own that are looked for in the archive, by the name that we gave them. */
  readonly #expected = new Map<string, (sent: Sent) => void>();
  #live: Live | undefined;

  constructor({
    id,
    name = "XMPP",
    rooms = [],
    historyDays = HISTORY_DAYS,
    timing = REAL_TIMING,
    ...login
  }: XmppOptions) {
    this.id = id;
    this.name = name;
    this.#login = login;
    this.#rooms = rooms.map(({ jid, nick = login.jid.split("@", 1)[0] ?? "me" }) => ({ jid, nick }));
    this.#historyMs = historyDays * DAY_MS;
    this.#timing = timing;
  }

  async run(context: SourceContext): Promise<void> {
    const position = new Map(Object.entries(context.checkpoint));
    await stayConnected(context, {
      attempt: (connected) => this.#listen(context, position, connected),
      howToConnect,
      timing: this.#timing,
    });
  }

  async backfill({
    chat,
    before,
    limit,
  }: {
    chat: string;
    before?: number;
    limit: number;
  }): Promise<{ exhausted: boolean }> {
    const live = this.#connection();
    const room = this.#rooms.find(({ jid }) => jid === chat);
    const max = Math.min(limit, MAX_BACKFILL);
    const query = {
      before: "",
      max,
      ...(before === undefined ? {} : { end: before }),
      ...(room === undefined ? { with: chat } : {}),
    };
    const page = await queryArchive(live.session.client, room?.jid, query);
    const events = (page?.messages ?? []).flatMap((archived) => this.#eventsOf(archived, live, room, "backfill"));
    await live.context.sink(events);
    return { exhausted: page?.isLast ?? true };
  }

  send(request: SendRequest): Promise<Sent> {
    return this.#sent.send(request.idempotencyKey, () => this.#sendNow(request));
  }

  async #listen(context: SourceContext, position: Map<string, string>, connected: () => void): Promise<void> {
    const session = await Session.open(this.#login, context.signal);
    const onAbort = (): void => session.close();
    context.signal.addEventListener("abort", onAbort, { once: true });
    const live = { session, context, position, inbox: new Inbox(session.lost), archives: new Map<string, Archive>() };
    session.client.on("stanza", (stanza) => onStanza(stanza, live));
    const work = this.#work(live, connected);
    try {
      await Promise.race([session.lost, work]);
    } finally {
      this.#live = undefined;
      context.signal.removeEventListener("abort", onAbort);
      session.close();
      // A commit may be under way; the next connection begins where it ends.
      await work.catch(() => undefined);
    }
  }

  async #work(live: Live, connected: () => void): Promise<void> {
    const { session, inbox } = live;
    await session.ask(xml("iq", { type: "set" }, xml("enable", { xmlns: NS.carbons }))).catch(noSuchFeature);
    await commit(live.context, [
      { type: "person", person: { id: session.self, isSelf: true } },
      ...(await this.#roster(live)),
    ]);
    await this.#open(live, undefined);
    for (const room of this.#rooms) await this.#open(live, room);
    this.#live = live;
    connected();
    for (;;) await this.#do(await inbox.next(), live);
  }

  /** Finds out whether there is an archive, and reads it up to now. */
  async #open(live: Live, room: Room | undefined): Promise<void> {
    const { session, context, archives } = live;
    const jid = room?.jid ?? session.self;
    const { features, name } = await session.discover(jid).catch(noInformation);
    archives.set(jid, { room, isKept: features.has(NS.mam) });
    // From here on we are told; the archive is read after that, so nothing falls between.
    if (room === undefined) await session.client.send(xml("presence"));
    else await join(session, room);
    if (room !== undefined) {
      await commit(context, [
        { type: "chat", chat: { id: jid, type: "group", name: name ?? jid.split("@", 1)[0] ?? jid } },
      ]);
    }
    // What came since we were last here is news; all that was there before we first came is not.
    if (features.has(NS.mam)) await this.#pull(live, jid, room, live.position.has(`id ${jid}`) ? "live" : "backfill");
    else context.log.info(`${jid} keeps no archive: only what comes while we are connected is stored`);
  }

  async #do(work: Work, live: Live): Promise<void> {
    const room = live.archives.get(work.archive)?.room;
    if (work.kind === "fetch") return this.#pull(live, work.archive, room, "live");
    const { message } = work;
    const archived = { id: senderId(message) ?? String(live.context.now()), at: live.context.now(), message };
    await commit(live.context, this.#eventsOf(archived, live, room, "live"));
  }

  /** Everything that the archive has beyond our place in it. */
  async #pull(live: Live, jid: string, room: Room | undefined, origin: "live" | "backfill"): Promise<void> {
    const { session, context, position } = live;
    for (;;) {
      const page =
        (await queryArchive(session.client, room?.jid, this.#nextPage(live, jid, false))) ??
        // The server has forgotten the place: the time has to do.
        (await queryArchive(session.client, room?.jid, this.#nextPage(live, jid, true)));
      const last = page?.messages.at(-1);
      if (page === undefined || last === undefined) break;
      await this.#resolve(page.messages, live, room);
      const events = page.messages.flatMap((archived) => this.#eventsOf(archived, live, room, origin));
      const next = new Map(position).set(`id ${jid}`, last.id).set(`at ${jid}`, String(last.at));
      await commit(context, [...events, { type: "checkpoint", state: Object.fromEntries(next) }]);
      position.set(`id ${jid}`, last.id).set(`at ${jid}`, String(last.at));
      this.#tellSent(page.messages, live, room);
      if (page.isLast) break;
    }
  }

  #nextPage({ position, context }: Live, jid: string, isByTime: boolean): ArchiveQuery {
    const after = position.get(`id ${jid}`);
    if (after !== undefined && !isByTime) return { after };
    return { start: Number(position.get(`at ${jid}`) ?? context.now() - this.#historyMs) };
  }

  /** Looks once through the page before for what these refer to and nobody knows. */
  async #resolve(messages: readonly ArchivedMessage[], live: Live, room: Room | undefined): Promise<void> {
    const unknown = messages.find(({ message }) => {
      const place = placeOf(message, reading(live, room));
      const target = referenceOf(message);
      return place !== undefined && target !== undefined && this.#references.find(place.chat, target) === undefined;
    });
    const first = messages[0];
    if (unknown === undefined || first === undefined) return;
    const earlier = await queryArchive(live.session.client, room?.jid, { before: first.id, max: PAGE });
    for (const { id, message } of earlier?.messages ?? []) {
      const place = placeOf(message, reading(live, room));
      if (place !== undefined)
        this.#references.add(place.chat, { id, senderId: senderId(message), sender: place.sender });
    }
  }

  #eventsOf(archived: ArchivedMessage, live: Live, room: Room | undefined, origin: "live" | "backfill"): SourceEvent[] {
    const reader = { ...reading(live, room), references: this.#references, reactions: this.#reactions, origin };
    const place = placeOf(archived.message, reader);
    const events = place === undefined ? [] : toEvents(archived, place, reader);
    return place === undefined || events.length === 0 ? [] : [...around(place, room), ...events];
  }

  #tellSent(messages: readonly ArchivedMessage[], live: Live, room: Room | undefined): void {
    if (this.#expected.size === 0) return;
    for (const { id, at, message } of messages) {
      if (placeOf(message, reading(live, room))?.isSelf === true)
        this.#expected.get(senderId(message) ?? "")?.({ id, at });
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
    const hint = howToConnect(new SourceFailure("unreachable", ""));
    throw new ChatError("SOURCE_NOT_CONNECTED", `${this.name} is not connected`, { hint });
  }

  async #sendNow({ chat, text, replyTo, idempotencyKey }: SendRequest): Promise<Sent> {
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
    if (archives.get(archive)?.isKept !== true) {
      await session.client.send(message);
      const own = xml(
        "message",
        { ...message.attrs, from: room === undefined ? session.self : `${chat}/${room.nick}` },
        ...message.children,
      );
      // A room says our own words back to us; a person does not.
      if (room === undefined) inbox.put({ kind: "direct", archive, message: own });
      return { id: idempotencyKey, at: context.now() };
    }
    const found = this.#find(idempotencyKey, session.lost);
    await session.client.send(message);
    inbox.put({ kind: "fetch", archive });
    return found;
  }

  /** In a room a message is called by the archive's id, between two people as its sender called it. */
  #reply(chat: string, id: string, room: Room | undefined): Element {
    const name = room === undefined ? this.#references.nameOf(chat, id) : id;
    return xml("reply", { xmlns: NS.reply, id: name ?? id, to: this.#references.senderOf(chat, id) ?? chat });
  }

  /** The archive's own name for what we have sent is known when it is found there. */
  #find(name: string, lost: Promise<never>): Promise<Sent> {
    const timeout = new ChatError(
      "TIMEOUT",
      "The server did not confirm the message; whether it was sent is not known",
    );
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        this.#expected.delete(name);
      };
      const fail = (): void => {
        settle();
        reject(timeout);
      };
      const timer = setTimeout(fail, SEND_MS);
      this.#expected.set(name, (sent) => {
        settle();
        resolve(sent);
      });
      lost.catch(fail);
    });
  }
}

/** While it is connected. */
interface Live {
  readonly session: Session;
  readonly context: SourceContext;
  /** The last id and time of each archive. */
  readonly position: Map<string, string>;
  readonly inbox: Inbox;
  /** By the address of who keeps it. */
  readonly archives: Map<string, Archive>;
}

function reading({ session }: Live, room: Room | undefined): { self: string; room?: Room } {
  return room === undefined ? { self: session.self } : { self: session.self, room };
}

/** A message of our own from another device comes as a copy, wrapped: it is fetched like any other. */
function onStanza(stanza: Element, { session, inbox, archives }: Live): void {
  if (!stanza.is("message") || attr(stanza, "type") === "error") return;
  if (stanza.getChild("result", NS.mam) !== undefined) return;
  const from = bare(attr(stanza, "from") ?? session.self);
  const owner = archives.has(from) ? from : session.self;
  const isCopy =
    from === session.self &&
    (stanza.getChild("sent", NS.carbons) ?? stanza.getChild("received", NS.carbons)) !== undefined;
  const isKept = archives.get(owner)?.isKept === true;
  if (isKept && (isCopy || stanzaId(stanza, owner) !== undefined)) inbox.put({ kind: "fetch", archive: owner });
  // What is not kept comes this way alone. A room's old messages, sent at joining, are not new.
  else if (!isCopy && stanza.getChild("delay", NS.delay) === undefined) {
    inbox.put({ kind: "direct", archive: owner, message: stanza });
  }
}

/** The chat and the person of a message. */
function around({ chat, sender, isSelf }: Place, room: Room | undefined): SourceEvent[] {
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

/** Resolves when we are in it. */
function join(session: Session, { jid, nick }: Room): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void): void => {
      clearTimeout(timer);
      session.client.removeListener("stanza", onPresence);
      finish();
    };
    const refuse = (why: string) =>
      settle(() => reject(new SourceFailure("refused", `The room ${jid} was not entered (${why})`)));
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

/** The server knows no such thing. If the connection is gone, that is told elsewhere. */
const noSuchFeature = (): undefined => undefined;
const noInformation = (): { features: ReadonlySet<string>; name: undefined } => ({
  features: new Set(),
  name: undefined,
});

function howToConnect({ kind }: SourceFailure): string {
  if (kind === "unauthorized") return "Put the account's address and password into the source's settings.";
  return "Check the server's address and that it offers encryption; it is tried again by itself.";
}
