import { createServer, Socket } from "node:net";
import { client as createClient, xml, type Client } from "@xmpp/client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { describeSource, type Network } from "../../../../test/support/chat/contract.ts";
import { Run } from "../../../../test/support/chat/source-run.ts";
import { TcpProxy } from "../../../../test/support/chat/tcp-proxy.ts";
import type { Timing } from "../backoff.ts";
import { HOW_TO_INSTALL, isProsodyInstalled, PASSWORD, Prosody } from "../../../../test/support/chat/prosody.ts";
import { createXmpp, type XmppOptions } from "./xmpp.ts";

if (!isProsodyInstalled) process.stdout.write(`The XMPP tests need Prosody: ${HOW_TO_INSTALL}\n`);

/** A user of the server with an ordinary client. */
class Person {
  readonly client: Client;
  readonly jid: string;
  #sent = 0;

  static async arrive(prosody: Prosody, name: string): Promise<Person> {
    const client = createClient({ service: prosody.service, domain: "localhost", username: name, password: PASSWORD });
    client.reconnect.stop();
    client.on("error", () => undefined);
    await client.start();
    // Otherwise its messages wait for the acknowledgement of the previous one.
    if (client.socket instanceof Socket) client.socket.setNoDelay();
    await client.send(xml("presence"));
    return new Person(client, `${name}@localhost`);
  }

  private constructor(client: Client, jid: string) {
    this.client = client;
    this.jid = jid;
  }

  /** Returns the id of the message. */
  async say(to: string, body: string, ...more: ReturnType<typeof xml>[]): Promise<string> {
    const id = `${this.jid}-${++this.#sent}`;
    const type = /@(?:rooms|loose)\./.test(to) ? "groupchat" : "chat";
    await this.client.send(xml("message", { to, type, id }, ...(body === "" ? [] : [xml("body", {}, body)]), ...more));
    return id;
  }

  async enter(room: string): Promise<void> {
    const entered = new Promise<void>((resolve) => {
      this.client.on("stanza", (stanza) => {
        const codes = stanza.getChild("x", "http://jabber.org/protocol/muc#user")?.getChildren("status") ?? [];
        if (codes.some(({ attrs }) => attrs["code"] === "110")) resolve();
      });
    });
    const nick = this.jid.split("@", 1)[0];
    await this.client.send(
      xml("presence", { to: `${room}/${nick}` }, xml("x", { xmlns: "http://jabber.org/protocol/muc" })),
    );
    await entered;
  }

  /** Waits until the server has processed earlier stanzas: it answers in order. */
  async settle(): Promise<void> {
    await this.client.iqCaller.request(
      xml("iq", { type: "get", to: "localhost" }, xml("ping", { xmlns: "urn:xmpp:ping" })),
    );
  }

  leave(): Promise<unknown> {
    return this.client.stop().catch(() => undefined);
  }
}

const correction = (id: string) => xml("replace", { xmlns: "urn:xmpp:message-correct:0", id });
const reaction = (id: string, ...emojis: string[]) =>
  xml("reactions", { xmlns: "urn:xmpp:reactions:0", id }, ...emojis.map((emoji) => xml("reaction", {}, emoji)));
const retraction = (id: string) => xml("retract", { xmlns: "urn:xmpp:message-retract:1", id });

describe.skipIf(!isProsodyInstalled)("CH-12 XMPP with a real Prosody", () => {
  let prosody: Prosody;
  let nextUser = 1;
  beforeAll(async () => {
    prosody = await Prosody.start();
  });
  afterAll(() => prosody.close());

  const newUsers = async (): Promise<[me: string, other: string]> => {
    const number = nextUser++;
    const users: [string, string] = [`me${number}`, `alice${number}`];
    await prosody.addUsers(...users);
    return users;
  };

  const source = (me: string, port: number, timing: Timing, options: Partial<XmppOptions> = {}) =>
    createXmpp({
      id: "xmpp",
      service: `xmpp://127.0.0.1:${port}`,
      jid: `${me}@localhost`,
      password: async () => PASSWORD,
      timing,
      ...options,
    });

  async function createNetwork(): Promise<Network> {
    const [me, other] = await newUsers();
    const [door, alice] = await Promise.all([TcpProxy.open(prosody.port), Person.arrive(prosody, other)]);
    const to = `${me}@localhost`;
    const names = new Map<string, string>();
    let password = PASSWORD;
    const at = (port: number, timing: Timing) => source(me, port, timing, { password: async () => password });
    const say = async (text: string): Promise<void> => void names.set(text, await alice.say(to, text));
    return {
      createSource: (timing) => at(door.port, timing),
      entry: () => ({ kind: "xmpp", options: { service: prosody.service, jid: to, password: PASSWORD } }),
      line: { sourceAt: at, cut: async () => door.disconnectAll() },
      actions: {
        edits: async (target, text) => void (await alice.say(to, text, correction(target))),
        reactions: async (target) => {
          await alice.say(to, "", reaction(target, "👍"), store());
          return "👍";
        },
        deletions: async (target) => void (await alice.say(to, "", retraction(target), store())),
      },
      send: say,
      sendAll: async (texts) => {
        for (const text of texts) await say(text);
      },
      reserve: { cannot: "the archive keeps the order, and gives a message its id when it is said" },
      target: (message) => names.get(message.content) ?? "",
      unseenTarget: () => "never-sent",
      refuse: async (refused) => void (password = refused ? "wrong" : PASSWORD),
      refusedAs: "needs_auth",
      open: () => door.connections,
      close: async () => {
        await alice.leave();
        await door.close();
      },
    };
  }
  /** Prosody archives messages without a body only if asked to. */
  const store = () => xml("store", { xmlns: "urn:xmpp:hints" });

  describeSource("xmpp", { keepsWhileAway: true, many: 1000 }, createNetwork);

  describe("an account and its rooms", () => {
    let me: string;
    let alice: Person;
    let run: Run | undefined;
    const start = (options: Partial<XmppOptions> = {}, checkpoint: Record<string, string> = {}): Run => {
      run = new Run((timing) => source(me, prosody.port, timing, options), { checkpoint });
      return run;
    };
    beforeEach(async () => {
      const [own, other] = await newUsers();
      me = own;
      alice = await Person.arrive(prosody, other);
    });
    afterEach(async () => {
      await run?.stop();
      await alice.leave();
    });
    const myJid = (): string => `${me}@localhost`;

    it("stores earlier messages as history and later ones as new", async () => {
      await alice.say(myJid(), "history");
      const live = start();
      await live.connected();
      await alice.say(myJid(), "news");
      await live.message("news");
      const origins = live.recorder.events.flatMap((event) =>
        event.type === "message" ? [[event.message.content, event.origin]] : [],
      );
      expect(origins).toEqual([
        ["history", "backfill"],
        ["news", "live"],
      ]);
      const message = await live.message("news");
      expect(message).toMatchObject({ chat: alice.jid, sender: alice.jid });
      expect(live.chats.get(alice.jid)).toMatchObject({ type: "direct" });
    });

    it("joins rooms: history, live messages, senders and its own messages", async () => {
      const room = `den-${me}@rooms.localhost`;
      await alice.enter(room);
      await alice.say(room, "before");
      const live = start({ rooms: [{ jid: room }] });
      await live.connected();
      const before = await live.message("before");
      expect(before).toMatchObject({ chat: room, sender: `${room}/${alice.jid.split("@")[0]}` });
      const name = await alice.say(room, "in the room");
      const message = await live.message("in the room");
      expect(live.chats.get(room)).toMatchObject({ type: "group" });
      expect(live.people.get(message.sender ?? "")).toMatchObject({ name: alice.jid.split("@")[0] });
      await alice.say(room, "in this room", correction(name));
      expect(await live.event("edit", () => true)).toMatchObject({
        chat: room,
        id: message.id,
        content: "in this room",
      });
      await alice.say(room, "", reaction(message.id, "👍"), store());
      await live.event("reaction", ({ id, emoji }) => id === message.id && emoji === "👍");
      const sent = await live.source.send?.({ chat: room, text: "my words", idempotencyKey: `k-${me}` });
      const own = await live.message("my words");
      expect(own).toMatchObject({ id: sent?.id, sender: `${room}/${me}` });
      expect(live.people.get(`${room}/${me}`)).toMatchObject({ isSelf: true });
    });

    it("stores live messages of a room without an archive", async () => {
      const room = `hall-${me}@loose.localhost`;
      await alice.enter(room);
      const live = start({ rooms: [{ jid: room }] });
      await live.connected();
      const name = await alice.say(room, "gone with the wind");
      expect(await live.message("gone with the wind")).toMatchObject({ id: name, chat: room });
      await alice.say(room, "kept after all", correction(name));
      expect(await live.event("edit", () => true)).toMatchObject({ chat: room, id: name });
      const sent = await live.source.send?.({ chat: room, text: "echo", idempotencyKey: `loose-${me}` });
      expect(await live.message("echo")).toMatchObject({ id: sent?.id, sender: `${room}/${me}` });
      expect(live.logged).toEqual([expect.stringContaining("has no archive")]);
    });

    it("reads messages the user sends from another device", async () => {
      const live = start();
      await live.connected();
      const phone = await Person.arrive(prosody, me);
      await phone.say(alice.jid, "from my phone");
      expect(await live.message("from my phone")).toMatchObject({ chat: alice.jid, sender: myJid() });
      expect(live.people.get(myJid())).toMatchObject({ isSelf: true });
      await phone.leave();
    });

    it("sends once per key, and returns the archive's id", async () => {
      const live = start();
      await live.connected();
      const question = await alice.say(myJid(), "hello?");
      const { id: replyTo } = await live.message("hello?");
      const heard = new Promise<unknown[]>((resolve) => {
        alice.client.on("stanza", (stanza) => {
          if (stanza.is("message")) resolve([stanza.getChildText("body"), stanza.getChild("reply")?.attrs["id"]]);
        });
      });
      const request = { chat: alice.jid, text: "hello Alice", replyTo, idempotencyKey: `once-${me}` };
      const [first, second] = await Promise.all([live.source.send?.(request), live.source.send?.(request)]);
      expect(second).toEqual(first);
      expect(await heard).toEqual(["hello Alice", question]);
      expect(await live.message("hello Alice")).toMatchObject({ id: first?.id, sender: myJid(), replyTo });
      expect(live.recorder.messages.size).toBe(2);
    });

    it("ignores corrections and retractions by others", async () => {
      const [, mallory] = await newUsers();
      const room = `court-${me}@rooms.localhost`;
      await alice.enter(room);
      const other = await Person.arrive(prosody, mallory);
      await other.enter(room);
      const live = start({ rooms: [{ jid: room }] });
      await live.connected();
      const name = await alice.say(room, "true words");
      const message = await live.message("true words");
      await other.say(room, "false words", correction(name));
      await other.say(room, "", retraction(name), store());
      await other.say(room, "", retraction(message.id), store());
      await other.say(room, "the end");
      await live.message("the end");
      expect(live.recorder.events.filter(({ type }) => type === "edit" || type === "delete")).toEqual([]);
      expect(await live.message("false words")).toMatchObject({ sender: `${room}/${mallory}` });
      await other.leave();
    });

    it("resolves a correction after a restart", async () => {
      const live = start();
      await live.connected();
      const name = await alice.say(myJid(), "helo");
      const { id } = await live.message("helo");
      await live.stop();
      await alice.say(myJid(), "hello", correction(name));
      const again = start({}, live.recorder.checkpoint);
      expect(await again.event("edit", () => true)).toMatchObject({ id, content: "hello" });
    });

    it("reads removed reactions, files and encrypted messages, and drops quotes", async () => {
      const live = start();
      await live.connected();
      const name = await alice.say(myJid(), "first");
      const { id } = await live.message("first");
      await alice.say(myJid(), "", reaction(name, "👍", "🎉"), store());
      await alice.say(myJid(), "", reaction(name, "🎉"), store());
      expect(await live.event("reaction", ({ removed }) => removed)).toMatchObject({ id, emoji: "👍", by: alice.jid });
      const fallback = xml(
        "fallback",
        { xmlns: "urn:xmpp:fallback:0", for: "urn:xmpp:reply:0" },
        xml("body", { start: "0", end: "10" }),
      );
      await alice.say(myJid(), "> first 👋\nanswer", xml("reply", { xmlns: "urn:xmpp:reply:0", id: name }), fallback);
      expect((await live.message("answer")).replyTo).toBe(id);
      const url = "https://example.org/up/cat.jpg";
      await alice.say(myJid(), url, xml("x", { xmlns: "jabber:x:oob" }, xml("url", {}, url)));
      expect(await live.message(url)).toMatchObject({
        kind: "media",
        attachments: [{ kind: "image", name: "cat.jpg" }],
      });
      await alice.say(
        myJid(),
        "I sent you an OMEMO message",
        xml("encrypted", { xmlns: "eu.siacs.conversations.axolotl" }),
      );
      await live.recorder.until(() => [...live.recorder.messages.values()].find(({ kind }) => kind === "unsupported"));
    });

    it("decodes characters split across chunks", async () => {
      const live = start();
      await live.connected();
      const text = "家族👨‍👩‍👧‍👦é".repeat(4000);
      await alice.say(myJid(), text);
      expect((await live.message(text)).content).toBe(text);
    });

    it("fetches older messages on request", async () => {
      for (const number of [1, 2, 3, 4, 5]) await alice.say(myJid(), `old ${number}`);
      await alice.settle();
      const live = start({ historyDays: -1 });
      await live.connected();
      const { signal } = new AbortController();
      const first = await live.source.backfill?.({ chat: alice.jid, limit: 2, signal });
      expect([...live.recorder.messages.values()].map(({ content }) => content)).toEqual(["old 4", "old 5"]);
      const reachedAt = live.recorder.messages.values().next().value?.at;
      expect(first).toMatchObject({ status: "page", exhausted: false, reachedAt });
      const token = first?.status === "page" ? (first.token ?? "") : "";
      expect(await live.source.backfill?.({ chat: alice.jid, limit: 2, token, signal })).toMatchObject({
        exhausted: false,
      });
      expect(live.recorder.messages.size).toBe(4);
      // The archive does not know this id, so the time is used.
      const before = live.recorder.messages.values().next().value?.at ?? 0;
      expect(
        await live.source.backfill?.({ chat: alice.jid, limit: 100, token: "gone", before, signal }),
      ).toMatchObject({ exhausted: true });
      expect(live.recorder.messages.size).toBe(5);
    });

    it("refuses to send while not connected", async () => {
      const live = start({ service: "xmpp://127.0.0.1:1" });
      await live.state("disconnected");
      await expect(live.source.send?.({ chat: alice.jid, text: "x", idempotencyKey: "n" })).rejects.toMatchObject({
        code: "SOURCE_NOT_CONNECTED",
      });
    });

    it("delivers a live message quickly", async () => {
      const live = start();
      await live.connected();
      const took: number[] = [];
      for (let number = 0; number < 50; number++) {
        const began = performance.now();
        await alice.say(myJid(), `tick ${number}`);
        await live.message(`tick ${number}`);
        took.push(performance.now() - began);
      }
      took.sort((a, b) => a - b);
      process.stdout.write(`XMPP stanza to sink: p50 ${took[25]?.toFixed(1)} ms, p95 ${took[47]?.toFixed(1)} ms\n`);
      expect(took).toHaveLength(50);
    });
  });

  it("reconnects after the server was killed", async () => {
    const [me, other] = await newUsers();
    const run = new Run((timing) => source(me, prosody.port, timing));
    await run.connected();
    await prosody.down("SIGKILL");
    await run.state("disconnected");
    await prosody.up();
    await run.connected(2);
    const alice = await Person.arrive(prosody, other);
    await alice.say(`${me}@localhost`, "you are back");
    await run.message("you are back");
    expect(run.statuses()).toContain("disconnected");
    await alice.leave();
    await run.stop();
  });
});

describe("CH-12 XMPP without encryption", () => {
  it("is refused off loopback before the login", async () => {
    const heard: string[] = [];
    const server = createServer((socket) => {
      socket.on("data", (data) => {
        heard.push(String(data));
        socket.write(
          `<?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' id='1' from='localhost' version='1.0'><stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism>PLAIN</mechanism><mechanism>SCRAM-SHA-1</mechanism></mechanisms></stream:features>`,
        );
      });
      socket.on("error", () => undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    // Every address of this machine leads here; this one is not a loopback address.
    const service = `xmpp://0.0.0.0:${port}`;
    const run = new Run(
      (timing) => createXmpp({ id: "xmpp", service, jid: "me@localhost", password: async () => PASSWORD, timing }),
      { holdPauses: true },
    );
    expect(await run.state("disconnected")).toMatchObject({ message: expect.stringContaining("no encryption") });
    await run.stop();
    await new Promise((resolve) => server.close(resolve));
    expect(heard.join("")).not.toContain("<auth");
  });
});
