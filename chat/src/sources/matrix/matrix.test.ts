import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { describeSource, type Network } from "../../../../test/support/chat/contract.ts";
import { Run } from "../../../../test/support/chat/source-run.ts";
import { TcpProxy } from "../../../../test/support/chat/tcp-proxy.ts";
import type { Timing } from "../backoff.ts";
import { HomeserverDouble } from "../../../../test/support/chat/matrix-double.ts";
import { createMatrix } from "./matrix.ts";

type Json = Record<string, unknown>;

/** A user of a homeserver with an ordinary client. */
class Person {
  readonly user: string;
  readonly token: string;
  readonly #url: string;

  static async register(url: string): Promise<Person> {
    const body = { username: `u${randomUUID()}`, password: randomUUID(), auth: { type: "m.login.dummy" } };
    const { user_id: user, access_token: token } = await call(url, "POST", "v3/register", body);
    return new Person(url, String(user), String(token));
  }

  private constructor(url: string, user: string, token: string) {
    this.#url = url;
    this.user = user;
    this.token = token;
  }

  call(method: string, path: string, body?: object): Promise<Json> {
    return call(this.#url, method, path, body, this.token);
  }

  async createRoom(guest: Person, options: object = {}): Promise<string> {
    const { room_id: room } = await this.call("POST", "v3/createRoom", {
      invite: [guest.user],
      name: "Work",
      ...options,
    });
    await guest.call("POST", `v3/join/${encodeURIComponent(String(room))}`, {});
    return String(room);
  }

  async send(room: string, content: object, type = "m.room.message"): Promise<string> {
    const path = `v3/rooms/${encodeURIComponent(room)}/send/${type}/${randomUUID()}`;
    return String((await this.call("PUT", path, content))["event_id"]);
  }

  say(room: string, body: string, more: object = {}): Promise<string> {
    return this.send(room, { msgtype: "m.text", body, ...more });
  }

  async redact(room: string, event: string): Promise<void> {
    const path = `v3/rooms/${encodeURIComponent(room)}/redact/${encodeURIComponent(event)}/${randomUUID()}`;
    await this.call("PUT", path, {});
  }
}

async function call(url: string, method: string, path: string, body?: object, token?: string): Promise<Json> {
  const response = await fetch(`${url}/_matrix/client/${path}`, {
    method,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await response.json()) as Json;
}

const replaces = (id: string, body: string) => ({
  "m.new_content": { msgtype: "m.text", body },
  "m.relates_to": { rel_type: "m.replace", event_id: id },
});
const annotates = (id: string, key: string) => ({ "m.relates_to": { rel_type: "m.annotation", event_id: id, key } });

const source = (url: string, timing: Timing, accessToken: () => Promise<string>) =>
  createMatrix({ id: "matrix", url, accessToken, timing });

async function createNetwork(url: string, double?: HomeserverDouble): Promise<Network> {
  const [me, alice] = await Promise.all([Person.register(url), Person.register(url)]);
  const room = await alice.createRoom(me);
  const door = await TcpProxy.open(Number(new URL(url).port));
  let { token } = me;
  const at = (port: number, timing: Timing) => source(`http://127.0.0.1:${port}`, timing, async () => token);
  return {
    createSource: (timing) => at(door.port, timing),
    entry: () => ({ kind: "matrix", options: { url, token: me.token } }),
    line: { sourceAt: at, cut: async () => door.disconnectAll() },
    actions: {
      edits: async (target, text) => void (await alice.say(room, `* ${text}`, replaces(target, text))),
      reactions: async (target) => {
        await alice.send(room, annotates(target, "👍"), "m.reaction");
        return "👍";
      },
      deletions: (target) => alice.redact(room, target),
    },
    send: async (text) => void (await alice.say(room, text)),
    sendAll: async (texts) => {
      for (const text of texts) await alice.say(room, text);
    },
    reserve: { cannot: "a message gets its id from the homeserver, when it is said" },
    target: (message) => message.id,
    unseenTarget: () => "$never-sent",
    refuse: async (refused) => void (token = refused ? "wrong" : me.token),
    refusedAs: "needs_auth",
    open: () => double?.polling ?? door.connections,
    close: async () => {
      await door.close();
      await double?.close();
    },
  };
}

const traits = { keepsWhileAway: true };
describeSource("matrix", { ...traits, many: 1500 }, async () => {
  const double = await HomeserverDouble.start();
  return createNetwork(double.url, double);
});

// A real homeserver with open registration, such as Synapse with enable_registration_without_verification.
const realUrl = process.env["MATRIX_URL"];
describe.skipIf(realUrl === undefined)("a real homeserver (MATRIX_URL)", () => {
  describeSource("matrix", { ...traits, many: 60 }, () => createNetwork(realUrl ?? ""));
});

describe("CH-12 Matrix", () => {
  let double: HomeserverDouble;
  let me: Person;
  let alice: Person;
  let run: Run | undefined;
  beforeEach(async () => {
    double = await HomeserverDouble.start();
    [me, alice] = await Promise.all([Person.register(double.url), Person.register(double.url)]);
  });
  afterEach(async () => {
    await run?.stop();
    await double.close();
  });
  const start = (checkpoint: Record<string, string> = {}): Run => {
    run = new Run((timing) => source(double.url, timing, async () => me.token), { checkpoint });
    return run;
  };
  const nameOf = (person: Person): string => person.user.slice(1).split(":", 1)[0] ?? "";

  it("reads names of rooms and people, member counts, and direct rooms", async () => {
    const work = await alice.createRoom(me);
    const direct = await alice.createRoom(me, { name: undefined });
    await me.call("PUT", `v3/user/${encodeURIComponent(me.user)}/account_data/m.direct`, { [alice.user]: [direct] });
    await alice.say(direct, "between us");
    const live = start();
    const message = await live.message("between us");
    expect(live.chats.get(work)).toMatchObject({ name: "Work", type: "group", participantCount: 2 });
    expect(live.chats.get(direct)).toMatchObject({ type: "direct" });
    expect(live.people.get(message.sender ?? "")).toMatchObject({ name: nameOf(alice) });
    expect(live.people.get(me.user)).toMatchObject({ isSelf: true });
  });

  it("emits read receipts of the user's other devices, not those of others", async () => {
    const room = await alice.createRoom(me);
    const [first, second, third] = [1, 2, 3].map((n) => double.say(room, alice.user, n, `words ${n}`)) as [
      string,
      string,
      string,
    ];
    double.read(room, me.user, first);
    const live = start();
    await live.connected();
    double.read(room, alice.user, third);
    double.read(room, me.user, third, { thread_id: "$some-thread" });
    double.read(room, me.user, second, { thread_id: "main" }, "m.read.private");
    await live.event("read", ({ id }) => id === second);
    const read = live.recorder.events.filter((event) => event.type === "read");
    expect(read).toMatchObject([
      { chat: room, id: first, at: expect.any(Number) },
      { chat: room, id: second },
    ]);
  });

  it("stores the past as history and later messages as new", async () => {
    const room = await alice.createRoom(me);
    await alice.say(room, "past");
    const live = start();
    await live.connected();
    await alice.say(room, "now");
    await live.message("now");
    const origins = live.recorder.events.flatMap((event) =>
      event.type === "message" && event.message.kind === "text" ? [[event.message.content, event.origin]] : [],
    );
    expect(origins).toEqual([
      ["past", "backfill"],
      ["now", "live"],
    ]);
  });

  it("fetches the gap after a long absence", async () => {
    const room = await alice.createRoom(me);
    const live = start();
    await live.connected();
    await live.stop();
    const texts = Array.from({ length: 230 }, (_, index) => `missed ${index}`);
    for (const text of texts) await alice.say(room, text);
    const again = start(live.recorder.checkpoint);
    await again.message("missed 229");
    const heard = [...again.recorder.messages.values()].map(({ content }) => content);
    expect(heard).toEqual(texts);
  });

  it("ignores edits by others, and fetches unknown originals", async () => {
    const room = await alice.createRoom(me);
    const id = await alice.say(room, "true");
    const live = start();
    await live.message("true");
    await live.stop();
    const again = start(live.recorder.checkpoint);
    await again.connected();
    await me.say(room, "* false", replaces(id, "false"));
    await alice.say(room, "* truer", replaces(id, "truer"));
    expect(await again.event("edit", () => true)).toMatchObject({ id, content: "truer" });
    expect(await again.message("false")).toMatchObject({ sender: me.user });
  });

  it("reads removed reactions, replies, threads, files, polls, emotes and encrypted messages", async () => {
    const room = await alice.createRoom(me);
    const live = start();
    await live.connected();
    const id = await alice.say(room, "first");
    const given = await alice.send(room, annotates(id, "👍"), "m.reaction");
    await live.event("reaction", ({ removed }) => !removed);
    await alice.redact(room, given);
    expect(await live.event("reaction", ({ removed }) => removed)).toMatchObject({ id, emoji: "👍", by: alice.user });
    const answer = { "m.relates_to": { rel_type: "m.thread", event_id: id, "m.in-reply-to": { event_id: id } } };
    await alice.say(room, "> <@alice> first\n\nanswer", answer);
    expect(await live.message("answer")).toMatchObject({ replyTo: id, thread: id });
    await alice.send(room, { msgtype: "m.image", body: "cat.jpg", info: { mimetype: "image/jpeg", size: 7 } });
    expect(await live.message("cat.jpg")).toMatchObject({
      kind: "media",
      attachments: [{ kind: "image", name: "cat.jpg", mime: "image/jpeg", size: 7, available: false }],
    });
    await alice.send(room, { msgtype: "m.emote", body: "waves" });
    await live.message(`* ${nameOf(alice)} waves`);
    await alice.send(room, { algorithm: "m.megolm.v1.aes-sha2", ciphertext: "x" }, "m.room.encrypted");
    await alice.send(room, { msgtype: 7, body: ["nonsense"], "m.relates_to": "x" });
    await alice.say(room, "the end");
    await live.message("the end");
    const unread = [...live.recorder.messages.values()].find(({ kind }) => kind === "unsupported");
    expect(unread?.content).toContain("encrypted");
  });

  it("skips spaces", async () => {
    await alice.createRoom(me, { name: "Space", creation_content: { type: "m.space" } });
    const live = start();
    await live.connected();
    expect(live.chats.size).toBe(0);
  });

  it("honours the requested retry delay", async () => {
    const live = start();
    await live.connected();
    await expect.poll(() => double.polling).toBe(1);
    double.limit(1);
    await live.connected(2);
    expect(live.pauses).toEqual([7000]);
  });

  it("sends once per key, as a reply, and not into encrypted rooms", async () => {
    const room = await alice.createRoom(me);
    const live = start();
    await live.connected();
    const id = await alice.say(room, "question");
    const request = { chat: room, text: "reply", replyTo: id, idempotencyKey: "key" };
    const first = await live.source.send?.(request);
    const second = await live.source.send?.(request);
    expect(second?.id).toBe(first?.id);
    expect(await live.message("reply")).toMatchObject({ id: first?.id, sender: me.user, replyTo: id });
    const secret = await alice.createRoom(me, {
      initial_state: [{ type: "m.room.encryption", content: { algorithm: "m.megolm.v1.aes-sha2" } }],
    });
    await expect(live.source.send?.({ ...request, chat: secret })).rejects.toMatchObject({ code: "SEND_NOT_ALLOWED" });
    await expect(live.source.send?.({ ...request, chat: "!none:localhost" })).rejects.toMatchObject({
      code: "SEND_NOT_ALLOWED",
    });
    // One for the waiting poll, one for the message.
    double.limit(2);
    await expect(live.source.send?.({ ...request, idempotencyKey: "b" })).rejects.toMatchObject({
      code: "RATE_LIMITED",
    });
  });

  it.each(["token", "message", "before"] as const)(
    "fetches older messages page by page, each once and none left out, continuing by its %s",
    async (by) => {
      const room = await alice.createRoom(me);
      for (let number = 0; number < 320; number++) await alice.say(room, `old ${number}`);
      const live = start();
      await live.message("old 319");
      const { signal } = new AbortController();
      const oldest = () => [...live.recorder.messages.values()].toSorted((a, b) => a.at - b.at)[0];
      let token = (await live.event("unfetched", ({ chat }) => chat === room)).token;
      for (let pages = 0; ; pages++) {
        const place = {
          token: { token },
          message: { message: oldest()?.id ?? "" },
          // Only a token or message id separates messages of the same millisecond.
          before: { before: (oldest()?.at ?? 0) + 1 },
        }[by];
        const page = await live.source.backfill?.({ chat: room, limit: 100, signal, ...place });
        if (page?.status !== "page" || page.exhausted) break;
        expect(pages).toBeLessThan(5);
        token = page.token ?? "";
      }
      const texts = [...live.recorder.messages.values()].filter(({ kind }) => kind === "text");
      expect(new Set(texts.map(({ content }) => content)).size).toBe(320);
      expect(texts).toHaveLength(320);
    },
  );

  it("never shows the token", async () => {
    const { token } = me;
    const live = new Run((timing) => source("http://127.0.0.1:1", timing, async () => token), { holdPauses: true });
    await live.state("disconnected");
    await live.stop();
    run = start();
    await run.connected();
    expect(JSON.stringify([live.states, live.logged, run.states, run.recorder.events])).not.toContain(token);
  });
});
