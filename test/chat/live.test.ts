// New messages: bursts, filters, several processes on one home, the channel, and the hub in between.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { describe, expect, it } from "vitest";
import {
  chat,
  CHAT_BIN,
  connectChat,
  makeChatHome,
  message,
  person,
  startChat,
  type ChatClient,
  type Era,
} from "../support/chat/client.ts";
import { makeHome, startHub } from "../support/hub.ts";

const EVENTS = [
  person("alice", "Alice"),
  person("bob", "Bob"),
  chat("antti", "Antti"),
  chat("work", "Work", "group", 3),
  message("antti", "1", "alice", "2025-01-13T09:00:00Z", "hi"),
];
const live = (chatId: string, id: string, content: string, sender = "alice") =>
  message(chatId, id, sender, Date.now(), content, { origin: "live" });

describe("live messages", () => {
  it.each<Era>(["legacy", "modern"])(
    "CH-10 a burst of 300 is batched into few updates of at most 50, with a count of those left out, for a %s client",
    async (era) => {
      const home = await makeChatHome({ telegram: { events: EVENTS } });
      const server = await startChat(home);
      const client = await connectChat(era, server);
      await connected(client);
      await client.watch("messages://telegram/*");
      await home.append(
        "telegram",
        ...Array.from({ length: 300 }, (_, index) => live("work", `b${index}`, `burst ${index}`)),
      );
      let told = 0;
      for (let count = 1; told < 300; count += 1) {
        const { messages, meta } = await client.update(count);
        expect(messages.length).toBeLessThanOrEqual(50);
        told += messages.length + Number(meta["plugboard-chat/dropped"] ?? 0);
      }
      expect(told).toBe(300);
      expect(client.updates.length).toBeLessThan(10);
      expect(client.updates.at(-1)?.messages.at(-1)?.["id"]).toBe("b299");
      await client.close();
      await server.stop();
      await home.remove();
    },
  );

  it("CH-10 the URI filters by sender and words; imports and edits are not live", async () => {
    const home = await makeChatHome({ telegram: { events: EVENTS } });
    const client = await connectChat("modern", { home });
    await connected(client);
    const uri = "messages://telegram/*?sender=Bob&search=invoice";
    expect(await client.watch(uri)).toEqual([uri]);
    await home.append(
      "telegram",
      live("work", "1", "the invoice", "alice"),
      live("work", "2", "hello", "bob"),
      message("work", "3", "bob", Date.now(), "an old invoice", { origin: "import" }),
      live("work", "4", "my invoice", "bob"),
    );
    const { messages } = await client.update(1);
    expect(messages.map(({ id }) => id)).toEqual(["4"]);
    await client.close();
    await home.remove();
  });

  it("CH-10 an update has the kind of a message, its attachments, and whether the preview is truncated", async () => {
    const home = await makeChatHome({ telegram: { events: EVENTS } });
    const client = await connectChat("modern", { home });
    await connected(client);
    await client.watch("messages://telegram/Work");
    const voice = { kind: "voice", durationS: 12, available: false };
    await home.append(
      "telegram",
      message("work", "1", "bob", Date.now(), "", { origin: "live", kind: "media", attachments: [voice] }),
      live("work", "2", `${"x".repeat(499)}\u{1f389}y`),
      live("work", "3", "short"),
    );
    const told: Readonly<Record<string, unknown>>[] = [];
    for (let count = 1; told.length < 3; count += 1) told.push(...(await client.update(count)).messages);
    expect(told).toMatchObject([
      { id: "1", kind: "media", preview: "(voice, 12 s)", attachments: [{ kind: "voice", duration_s: 12 }] },
      { id: "2", kind: "text", preview: `${"x".repeat(499)}…`, truncated: true },
      { id: "3", kind: "text", preview: "short" },
    ]);
    expect(told[2]).not.toHaveProperty("truncated");
    await client.close();
    await home.remove();
  });

  it("CH-10 there are no updates after unsubscribing", async () => {
    const home = await makeChatHome({ telegram: { events: EVENTS } });
    for (const era of ["legacy", "modern"] as const) {
      const client = await connectChat(era, { home });
      await connected(client);
      await client.watch("messages://telegram/Antti");
      await client.unwatch("messages://telegram/Antti");
      await client.watch("messages://telegram/Work");
      await home.append("telegram", live("antti", `u1${era}`, "unheard"), live("work", `u2${era}`, "heard"));
      expect((await client.update(1)).uri).toBe("messages://telegram/Work");
      expect(client.updates).toHaveLength(1);
      await client.close();
    }
    await home.remove();
  });

  it("CH-10 one of two servers on one home runs the sources, both send updates, and the other takes over", async () => {
    const home = await makeChatHome({ telegram: { events: EVENTS } });
    const first = await startChat(home);
    const [one, two] = [await connectChat("modern", first), await connectChat("legacy", { home })];
    await connected(one);
    await connected(two);
    await Promise.all([one, two].map((client) => client.watch("messages://telegram/*")));
    await home.append("telegram", live("work", "1", "for both"));
    for (const client of [one, two])
      expect((await client.update(1)).messages.map(({ preview }) => preview)).toEqual(["for both"]);
    expect((await two.call("list_sources")).json.sources[0].is_connected).toBe(true);
    first.process.kill("SIGKILL");
    await first.ended;
    await one.close().catch(() => undefined);
    await home.append("telegram", live("work", "2", "after the first has gone"));
    expect((await two.update(2)).messages.map(({ preview }) => preview)).toEqual(["after the first has gone"]);
    await two.close();
    await home.remove();
  });

  it("CH-10 with --channel new messages are pushed as notifications/claude/channel", async () => {
    const home = await makeChatHome({ telegram: { events: [...EVENTS, person("me", "Me", { isSelf: true })] } });
    const child = spawn(process.execPath, [CHAT_BIN, "serve", "--channel"], { env: home.env });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const next = async () => JSON.parse((await lines.next()).value ?? "{}");
    const send = (sent: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...sent })}\n`);
    const clientInfo = { name: "test", version: "1" };
    send({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } });
    expect((await next()).result.capabilities.experimental).toEqual({ "claude/channel": {} });
    send({ method: "notifications/initialized" });
    await home.append("telegram", live("work", "1", "my own", "me"), live("work", "2", "wake up"));
    let pushed = await next();
    // The chats are new too, which is announced first.
    while (pushed.method === "notifications/resources/list_changed") pushed = await next();
    expect(pushed).toMatchObject({
      method: "notifications/claude/channel",
      params: {
        content: "wake up",
        meta: { source: "telegram", chat_id: "work", chat_name: "Work", sender: "Alice", message_id: "2" },
      },
    });
    child.stdin.end();
    await once(child, "exit");
    await home.remove();
  });
});

describe("the hub in front of the chat server", () => {
  it.each<{ era: Era; chatOver: "stdio" | "http" }>([
    { era: "legacy", chatOver: "stdio" },
    { era: "modern", chatOver: "stdio" },
    { era: "legacy", chatOver: "http" },
    { era: "modern", chatOver: "http" },
  ])(
    "CH-10 tools, resources, errors and live messages for a $era client, the chat server over $chatOver",
    async ({ era, chatOver }) => {
      const home = await makeChatHome({ telegram: { events: EVENTS }, whatsapp: { entry: { kind: "import" } } });
      const server = chatOver === "http" ? await startChat(home) : undefined;
      const entry =
        server === undefined
          ? { command: process.execPath, args: [CHAT_BIN], env: { PLUGBOARD_CHAT_HOME: home.dir } }
          : { url: server.url };
      const hubHome = await makeHome({ chat: entry });
      const hub = await startHub(hubHome);
      const client = await connectChat(era, { url: `${hub.url}/mcp` });
      const tools = (await client.tools()).map(({ name }) => name);
      const getMessages = tools.find((name) => name.endsWith("get_messages")) ?? "";
      const { json } = await client.call(getMessages, { source: "telegram", chat: "Antti" });
      expect(json.messages.map(({ content }: { content: string }) => content)).toEqual(["hi"]);
      expect(await client.read("messages://telegram/Antti")).toBe("[2025-01-13T09:00:00Z] Alice: hi\n");
      const wrong = await client.call(getMessages, { source: "signal" });
      expect(wrong).toMatchObject({ isError: true, json: { error: { code: "SOURCE_NOT_FOUND" } } });
      expect(await client.watch("messages://telegram/*")).toEqual(["messages://telegram/*"]);
      await home.append("telegram", live("work", "1", "through the hub"));
      const { messages, uri } = await client.update(1);
      expect(uri).toBe("messages://telegram/*");
      expect(messages).toMatchObject([
        { source: "telegram", chat_name: "Work", sender: "Alice", preview: "through the hub" },
      ]);
      await client.close();
      await hub.stop();
      await hubHome.remove();
      await server?.stop();
      await home.remove();
    },
  );
});

async function connected(client: ChatClient): Promise<void> {
  for (;;) {
    const { json } = await client.call("list_sources");
    if (json.sources[0].is_connected && json.sources[0].message_count > 0) return;
  }
}
