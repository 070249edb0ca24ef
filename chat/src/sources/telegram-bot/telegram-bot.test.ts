import { Bot } from "grammy";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { describeSource, type SendOptions, type Network } from "../../../../test/support/chat/contract.ts";
import { importFile, temporaryFolder } from "../../../../test/support/chat/import-file.ts";
import { Run } from "../../../../test/support/chat/source-run.ts";
import { telegramImporter } from "../../importers/telegram/importer.ts";
import type { Timing } from "../backoff.ts";
import { BotApiDouble, OWNER, refusal, TOKEN } from "../../../../test/support/chat/telegram-bot-double.ts";
import { createTelegramBot } from "./telegram-bot.ts";

const ALICE = { id: 300, is_bot: false, first_name: "Alice", username: "alice" };
const WORK = { id: -1001, type: "supergroup", title: "Work" };
const seconds = (ms: number): number => Math.floor(ms / 1000);

const createSource = (apiRoot: string, timing: Timing, token = TOKEN) =>
  createTelegramBot({ id: "telegram", apiRoot, token: async () => token, timing });

/** The group of Alice, and her private chat with the owner: Telegram reports deletions only for the latter. */
const PRIVATE = { id: ALICE.id, type: "private", first_name: ALICE.first_name };
const CONNECTION = { business_connection_id: "bc1" };

async function createNetwork(): Promise<Network> {
  const double = await BotApiDouble.start();
  const said = (text: string, { at = Date.now() }: SendOptions, message_id = double.nextMessageId()) => ({
    message_id,
    date: seconds(at),
    from: ALICE,
    text,
  });
  const announce = (text: string, how: SendOptions = {}) => {
    const message = said(text, how);
    const say = async (): Promise<void> =>
      void double.push(
        how.isToBeRemoved === true
          ? { business_message: { ...message, chat: PRIVATE, ...CONNECTION } }
          : { message: { ...message, chat: WORK } },
      );
    return { target: String(message.message_id), say };
  };
  return {
    createSource: (timing) => createSource(double.root, timing),
    entry: () => ({ kind: "telegram-bot", options: { api_root: double.root, token: TOKEN } }),
    line: {
      sourceAt: (port, timing) => createSource(`http://127.0.0.1:${port}`, timing),
      cut: async () => double.cut(),
    },
    exported: async (messages, older) => {
      const written = (id: number, at: number, text: string) => ({
        id,
        type: "message",
        date_unixtime: String(seconds(at)),
        from: ALICE.first_name,
        from_id: `user${ALICE.id}`,
        text,
      });
      const list = [
        { id: 1, name: WORK.title, type: "private_supergroup", chat: String(WORK.id) },
        { id: PRIVATE.id, name: PRIVATE.first_name, type: "personal_chat", chat: `business:${OWNER.id}:${PRIVATE.id}` },
      ].map(({ chat, ...head }) => ({
        ...head,
        messages: [
          // The bot has its own numbering, which also begins at 1.
          ...(head.type === "personal_chat" ? [written(1_000_001, 1_000_000, older)] : []),
          ...messages
            .filter((message) => message.chat === chat)
            .map(({ id, at, content }) => written(Number(id), at, content)),
        ],
      }));
      const folder = await temporaryFolder();
      const account = { personal_information: { user_id: OWNER.id, first_name: "Olga" }, chats: { list } };
      const { events } = await importFile(
        telegramImporter,
        await folder.file("result.json", JSON.stringify(account, undefined, 1)),
      );
      await folder.remove();
      return events;
    },
    actions: {
      edits: async (target, text) => {
        const edited = { ...said(text, {}, Number(target)), chat: WORK, edit_date: seconds(Date.now()) };
        double.push({ edited_message: edited });
      },
      reactions: async (target) => {
        double.push({
          message_reaction: {
            chat: WORK,
            message_id: Number(target),
            user: ALICE,
            date: seconds(Date.now()),
            old_reaction: [],
            new_reaction: [{ type: "emoji", emoji: "👍" }],
          },
        });
        return "👍";
      },
      deletions: async (target) =>
        void double.push({
          deleted_business_messages: { ...CONNECTION, chat: PRIVATE, message_ids: [Number(target)] },
        }),
    },
    send: (text, how) => announce(text, how).say(),
    sendAll: async (texts) => {
      for (const text of texts) await announce(text).say();
    },
    reserve: announce,
    target: (message) => message.id,
    unseenTarget: () => "987654",
    refuse: async (refused) => void (double.token = refused ? "another" : TOKEN),
    refusedAs: "needs_auth",
    open: () => Number(double.polling),
    close: () => double.close(),
  };
}

describeSource("telegram-bot", { keepsWhileAway: true, many: 100_000 }, createNetwork);

describe("CH-12 Telegram through a bot", () => {
  let double: BotApiDouble;
  let run: Run;
  const start = (checkpoint: Record<string, string> = {}): Run =>
    new Run((timing) => createSource(double.root, timing), { checkpoint });
  beforeEach(async () => {
    double = await BotApiDouble.start();
  });
  afterEach(async () => {
    await run.stop();
    await double.close();
  });

  const message = (fields: object): { message: object } => ({
    message: { message_id: double.nextMessageId(), date: 1736758860, chat: WORK, from: ALICE, ...fields },
  });

  it("acknowledges updates only after the commit", async () => {
    run = start();
    await run.connected();
    run.recorder.rejectNext("kept");
    const number = double.push(message({ text: "kept" }));
    await run.state("error");
    expect(double.waiting).toBe(1);
    await run.message("kept");
    await expect.poll(() => double.waiting).toBe(0);
    expect(run.recorder.checkpoint).toMatchObject({ offset: String(number + 1) });
    const offsets = double.calls.filter(({ method }) => method === "getUpdates").map(({ params }) => params["offset"]);
    expect(offsets.slice(0, -1).every((offset) => offset === undefined)).toBe(true);
    expect(offsets.at(-1)).toBe(number + 1);
  });

  it("discards an offset older than a week, since Telegram may have restarted update ids", async () => {
    double.push(message({ text: "low number" }), 5);
    run = start({ offset: "1000", at: String(Date.now() - 7 * 24 * 3600 * 1000) });
    expect(await run.message("low number")).toMatchObject({ chat: "-1001" });
  });

  it("requests the update types it reads, including reactions, with a 50 s poll", async () => {
    run = start();
    await run.connected();
    await expect.poll(() => double.polling).toBe(true);
    expect(double.calls.at(-1)?.params).toMatchObject({ timeout: 50 });
    expect(double.calls.at(-1)?.params["allowed_updates"]).toContain("message_reaction");
    expect(double.calls.at(-1)?.params["allowed_updates"]).toContain("deleted_business_messages");
  });

  it("fetches the member count of a group once a day, and continues when it is refused", async () => {
    run = start();
    const counts = () => double.calls.filter(({ method }) => method === "getChatMemberCount");
    double.failures.push({ method: "getChatMemberCount", ...refusal(429, "Too Many Requests", 0) });
    double.push(message({ text: "refused" }));
    double.push(message({ text: "other", chat: { id: -1002, type: "supergroup", title: "Other" } }));
    double.push(message({ text: "private", chat: { id: 300, type: "private", first_name: "Alice" } }));
    await run.recorder.until(() => (run.chats.get("-1002")?.participantCount === 17 ? true : undefined));
    double.push(message({ text: "again", chat: { id: -1002, type: "supergroup", title: "Other" } }));
    await run.message("again");
    await expect.poll(() => double.polling).toBe(true);
    expect(counts().map(({ params }) => params["chat_id"])).toEqual([-1001, -1002]);
    expect(run.chats.get("-1001")).not.toHaveProperty("participantCount");
  });

  it("reads threads, replies, forwards and the chat of a message", async () => {
    run = start();
    double.push(
      message({
        text: "meeting",
        reply_to_message: { message_id: 4, chat: WORK, date: 1 },
        message_thread_id: 7,
        forward_origin: { type: "hidden_user", sender_user_name: "Someone", date: 1 },
      }),
    );
    expect(await run.message("meeting")).toMatchObject({
      chat: "-1001",
      sender: "300",
      at: 1736758860_000,
      replyTo: "4",
      thread: "7",
      forwardedFrom: "Someone",
    });
    expect(run.chats.get("-1001")).toMatchObject({ id: "-1001", name: "Work", type: "group" });
    expect(run.people.get("300")).toEqual({ id: "300", name: "Alice", username: "alice" });
    double.push({
      channel_post: {
        message_id: 1,
        date: 2,
        chat: { id: -1002, type: "channel", title: "News" },
        sender_chat: { id: -1002, type: "channel", title: "News" },
        text: "breaking",
      },
    });
    expect(await run.message("breaking")).toMatchObject({ chat: "-1002", sender: "-1002" });
    expect(run.chats.get("-1002")?.type).toBe("channel");
    expect(run.people.get("123456")).toMatchObject({ isSelf: true, isBot: true });
  });

  it.each([
    ["photo", { photo: [{ file_size: 1 }, { file_size: 99 }], caption: "c" }, "media", { kind: "image", size: 99 }],
    [
      "voice",
      { voice: { duration: 4, mime_type: "audio/ogg", file_size: 7 }, caption: "c" },
      "media",
      { kind: "voice", durationS: 4, mime: "audio/ogg", size: 7 },
    ],
    ["document", { document: { file_name: "a.pdf" }, caption: "c" }, "media", { kind: "file", name: "a.pdf" }],
    ["animation", { animation: {}, document: {}, caption: "c" }, "media", { kind: "video" }],
    ["sticker", { sticker: { emoji: "c" } }, "sticker", { kind: "sticker" }],
  ])("reads a %s", async (_, fields, kind, attachment) => {
    run = start();
    double.push(message(fields));
    expect(await run.message("c")).toMatchObject({ kind, attachments: [{ ...attachment, available: false }] });
  });

  it.each([
    [{ poll: { question: "Lunch?", options: [{ text: "Yes" }] } }, "poll", "Lunch?\n- Yes"],
    [{ location: { latitude: 60.1, longitude: 24.9 } }, "location", "60.1, 24.9"],
    [{ contact: { phone_number: "+1", first_name: "Bob" } }, "contact", "Bob +1"],
    [{ new_chat_members: [{ id: 5, first_name: "Bob" }] }, "system", "Bob joined"],
    [{ story: {} }, "unsupported", ""],
  ])("reads %j", async (fields, kind, content) => {
    run = start();
    double.push(message(fields));
    expect(await run.message(content)).toMatchObject({ kind });
  });

  it("skips an unknown update and continues", async () => {
    run = start();
    double.push({ message: { nonsense: true } });
    double.push(message({ text: "sense" }));
    await run.message("sense");
    await expect.poll(() => double.waiting).toBe(0);
    expect(run.logged).toEqual([expect.stringContaining("unknown form")]);
  });

  it("separates chats of a Business account from the bot's own", async () => {
    run = start();
    const chat = { id: 300, type: "private", first_name: "Alice" };
    double.push({ message: { message_id: 1, date: 1, chat, from: ALICE, text: "to the bot" } });
    double.push({
      business_message: {
        message_id: 1001,
        date: 1,
        chat,
        from: ALICE,
        text: "to Olga",
        business_connection_id: "bc1",
      },
    });
    double.push({
      business_message: {
        message_id: 1002,
        date: 2,
        chat,
        from: OWNER,
        text: "from Olga",
        business_connection_id: "bc1",
      },
    });
    double.push({
      deleted_business_messages: { business_connection_id: "bc1", chat, message_ids: [1001, 1002] },
    });
    expect((await run.message("to the bot")).chat).toBe("bot:123456:300");
    expect((await run.message("to Olga")).chat).toBe("business:900:300");
    await run.message("from Olga");
    expect(run.people.get("900")).toMatchObject({ isSelf: true });
    expect(await run.event("delete", () => true)).toMatchObject({ chat: "business:900:300", ids: ["1001", "1002"] });
    await run.source.send?.({ chat: "business:900:300", text: "answer", idempotencyKey: "k" });
    const sent = await run.message("answer");
    expect(sent.chat).toBe("business:900:300");
    expect(double.calls.filter(({ method }) => method === "getBusinessConnection")).toHaveLength(1);
  });

  it("emits changes of reactions", async () => {
    run = start();
    const [up, down] = [
      { type: "emoji", emoji: "👍" },
      { type: "emoji", emoji: "👎" },
    ];
    const reaction = { chat: WORK, message_id: 5, user: ALICE, date: 3, old_reaction: [up], new_reaction: [down] };
    double.push({ message_reaction: reaction });
    expect(await run.event("reaction", ({ emoji }) => emoji === "👍")).toMatchObject({ removed: true, by: "300" });
    expect(await run.event("reaction", ({ emoji }) => emoji === "👎")).toMatchObject({ removed: false, at: 3000 });
  });

  it("honours the requested retry delay", async () => {
    double.failures.push({ method: "getUpdates", ...refusal(429, "Too Many Requests: retry after 5", 5) });
    run = start();
    await run.connected(2);
    expect(run.pauses).toEqual([5000]);
  });

  it.each([
    [409, "conflict", /other program/],
    [502, "server error", /retried automatically/],
  ])("the error for %i has a fix (%s)", async (code, _, hint) => {
    double.failures.push({ method: "getUpdates", ...refusal(code, "no") });
    run = start();
    expect(await run.state("disconnected")).toMatchObject({ howToConnect: expect.stringMatching(hint) });
    await run.connected(2);
  });

  it("reports an HTML response as a server error", async () => {
    double.failures.push({ method: "getUpdates", status: 502, body: "<html>Bad Gateway</html>" });
    run = start();
    expect(await run.state("disconnected")).toMatchObject({ message: expect.stringContaining("502") });
    await run.connected(2);
  });

  it("reports a conflict with another poller and reconnects", async () => {
    run = start();
    await run.connected();
    await expect.poll(() => double.polling).toBe(true);
    const rival = await fetch(`${double.root}/bot${TOKEN}/getUpdates`, { method: "POST", body: '{"timeout":0}' });
    expect(rival.status).toBe(200);
    expect(await run.state("disconnected")).toMatchObject({ howToConnect: expect.stringContaining("other program") });
    await run.connected(2);
  });

  it("sends once per key, as a reply, and stores the sent message", async () => {
    run = start();
    await run.connected();
    const request = { chat: "bot:123456:300", text: "hi", replyTo: "bot:123456:5", idempotencyKey: "key-1" };
    const [first, second] = await Promise.all([run.source.send?.(request), run.source.send?.(request)]);
    expect(second).toEqual(first);
    const sent = double.calls.filter(({ method }) => method === "sendMessage");
    expect(sent.map(({ params }) => params)).toEqual([
      { chat_id: 300, text: "hi", reply_parameters: { message_id: 5 } },
    ]);
    expect(await run.message("hi")).toMatchObject({ id: first?.id, chat: "bot:123456:300", sender: "123456" });
  });

  it("reports why a message was not sent, and sends it on retry", async () => {
    run = start();
    await run.connected();
    double.failures.push({ method: "sendMessage", ...refusal(429, "slow down", 3) });
    const request = { chat: "bot:123456:300", text: "hi", idempotencyKey: "key-2" };
    await expect(run.source.send?.(request)).rejects.toMatchObject({
      code: "RATE_LIMITED",
      details: { retry_after_s: 3 },
    });
    await expect(run.source.send?.(request)).resolves.toMatchObject({ id: expect.any(String) });
    await expect(run.source.send?.({ ...request, chat: "bot:123456:403", idempotencyKey: "b" })).rejects.toMatchObject({
      code: "SEND_NOT_ALLOWED",
    });
    await expect(run.source.send?.({ ...request, chat: "Alice", idempotencyKey: "c" })).rejects.toMatchObject({
      code: "INVALID_PARAMETER",
    });
  });

  it("does not resend a message that may have arrived", async () => {
    run = start();
    await run.connected();
    double.failures.push({ method: "sendMessage", ...refusal(502, "Bad Gateway") });
    const request = { chat: "bot:123456:300", text: "hi", idempotencyKey: "key-3" };
    await expect(run.source.send?.(request)).rejects.toMatchObject({ code: "TIMEOUT" });
    await expect(run.source.send?.(request)).rejects.toMatchObject({ code: "TIMEOUT" });
    expect(double.calls.filter(({ method }) => method === "sendMessage")).toHaveLength(1);
  });

  it("never shows the token", async () => {
    double.failures.push(
      { method: "getUpdates", ...refusal(500, `no such thing: /bot${TOKEN}/getUpdates`) },
      { method: "sendMessage", ...refusal(400, `chat of ${TOKEN} not found`) },
    );
    run = start();
    await run.state("disconnected");
    const refused = await run.source
      .send?.({ chat: "1", text: "x", idempotencyKey: "t" })
      .catch((error: unknown) => error);
    double.cut();
    await run.connected(2);
    const unreachable = new Run((timing) => createSource("http://127.0.0.1:1", timing), { holdPauses: true });
    await unreachable.state("disconnected");
    await unreachable.stop();
    const shown = JSON.stringify([run.states, run.logged, unreachable.states, String(refused), run.recorder.events]);
    expect(shown).not.toContain(TOKEN);
  });
});

describe("the Bot API double", () => {
  it("works with grammy, an independent client", async () => {
    const double = await BotApiDouble.start();
    const bot = new Bot(TOKEN, { client: { apiRoot: double.root } });
    const heard: string[] = [];
    const both = new Promise<void>((resolve) => {
      bot.on("message:text", async (context) => {
        heard.push(context.message.text);
        if (heard.length === 2) resolve();
      });
    });
    const polling = bot.start({ timeout: 50 });
    const said = (text: string) => ({
      message: { message_id: double.nextMessageId(), date: 1, chat: WORK, from: ALICE, text },
    });
    double.push(said("one"));
    double.push(said("two"));
    await both;
    expect(heard).toEqual(["one", "two"]);
    const sent = await bot.api.sendMessage(300, "hello");
    expect(sent.text).toBe("hello");
    double.failures.push({ method: "sendMessage", ...refusal(429, "Too Many Requests: retry after 5", 5) });
    await expect(bot.api.sendMessage(300, "again")).rejects.toMatchObject({
      error_code: 429,
      parameters: { retry_after: 5 },
    });
    await bot.stop();
    await polling;
    expect(double.waiting).toBe(0);
    await double.close();
  });
});
