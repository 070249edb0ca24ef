import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Folder, importFile, temporaryFolder } from "../../../../test/support/chat/import-file.ts";
import { type Json, largeChat, messagesOfTwo, writeJson } from "../../../../test/support/chat/telegram-export.ts";
import { telegramImporter } from "./importer.ts";
import { scaled } from "../../../../test/support/scale.ts";

let folder: Folder;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

async function read(content: string | Buffer, options = {}) {
  return importFile(telegramImporter, await folder.file("result.json", content), options);
}

const oneChat = (messages: readonly Json[], head: Record<string, Json> = {}): Json => ({
  name: "Antti",
  type: "personal_chat",
  id: 700000001,
  ...head,
  messages,
});

const alice = { from: "Alice", from_id: "user300000001" };
const message = (id: number, fields: Record<string, Json>): Json => ({
  id,
  type: "message",
  date: "2025-01-13T09:00:00",
  date_unixtime: String(1_736_758_800 + id),
  ...alice,
  text: "",
  text_entities: [],
  ...fields,
});
const at = (id: number) => (1_736_758_800 + id) * 1000;

async function readMessages(messages: readonly Json[], options = {}) {
  const { messages: found, report } = await read(writeJson(oneChat(messages)), options);
  expect(report).toMatchObject({ skipped: 0, problems: [] });
  return found;
}

describe("one chat", () => {
  it("CH-12 imports a direct chat: chat, people, the user and texts", async () => {
    const { chats, people, messages, report } = await read(
      writeJson(
        oneChat([
          message(1, { text: "hei" }),
          message(2, {
            from: "Antti",
            from_id: "user700000001",
            text: ["see ", { type: "link", text: "https://example.org" }],
          }),
        ]),
      ),
    );
    expect(chats).toEqual([
      { id: "700000001", name: "Antti", type: "direct" },
      { id: "700000001", sameAs: ["business:300000001:700000001"] },
    ]);
    expect(people).toEqual([
      { id: "300000001", name: "Alice", isSelf: true },
      { id: "700000001", name: "Antti" },
    ]);
    expect(messages).toEqual([
      { id: "1", chat: "700000001", sender: "300000001", at: at(1), kind: "text", content: "hei" },
      { id: "2", chat: "700000001", sender: "700000001", at: at(2), kind: "text", content: "see https://example.org" },
    ]);
    expect(report).toEqual({
      format: "telegram-json",
      chats: 1,
      messages: 2,
      skipped: 0,
      problems: [],
      notes: [],
      complete: true,
    });
  });

  it.each<[string, Json, string]>([
    ["a string", "plain", "plain"],
    ["parts", ["a ", { type: "bold", text: "b" }, " c"], "a b c"],
    [
      "a link behind words",
      [{ type: "text_link", text: "here", href: "https://example.org/x" }],
      "here (https://example.org/x)",
    ],
    ["control characters", "a\u000bb\u0001", "a\u000bb\u0001"],
    ["what looks like an escape", "C:\\x41\\", "C:\\x41\\"],
    ["both", "\u000b\\x0B", "\u000b\\x0B"],
    ["line separators and quotes", '"\u2028"\n\t', '"\u2028"\n\t'],
    ["brackets", '}]{[\\"', '}]{[\\"'],
    ["other scripts", "日本語 👩‍👧 שלום", "日本語 👩‍👧 שלום"],
  ])("text as %s", async (_, text, content) => {
    expect(await readMessages([message(1, { text })])).toMatchObject([{ content }]);
  });

  it("edits, replies, forwards, reactions", async () => {
    const [edited, reply, elsewhere, forward, gone, reacted] = await readMessages(
      [
        message(1, { edited: "2025-01-13T09:02:00", edited_unixtime: "1736758920" }),
        message(2, { reply_to_message_id: 1 }),
        message(3, { reply_to_message_id: 1, reply_to_peer_id: "channel5" }),
        message(4, { forwarded_from: "News" }),
        message(5, { forwarded_from: null, edited: "1970-01-01T03:00:00" }),
        message(6, {
          reactions: [
            {
              type: "emoji",
              count: 3,
              emoji: "👍",
              recent: [{ from: "Antti", from_id: "user700000001", date: "2025-01-13T11:03:00" }],
            },
            { type: "paid", count: 2 },
          ],
        }),
      ],
      { timeZone: "Europe/Helsinki" },
    );
    expect(edited).toMatchObject({ editedAt: 1_736_758_920_000 });
    expect(reply).toMatchObject({ replyTo: "1" });
    expect(elsewhere).not.toHaveProperty("replyTo");
    expect(forward).toMatchObject({ forwardedFrom: "News" });
    expect(gone).toMatchObject({ forwardedFrom: "Deleted Account" });
    expect(gone).not.toHaveProperty("editedAt");
    expect(reacted?.reactions).toEqual([
      { emoji: "👍", by: "700000001", at: Date.parse("2025-01-13T09:03:00Z") },
      { emoji: "👍", count: 2 },
      { emoji: "⭐", count: 2 },
    ]);
  });

  const NOT_INCLUDED = "(File not included. Change data exporting settings to download.)";
  it.each<[string, Record<string, Json>, object]>([
    [
      "a photo",
      { photo: "photos/p.jpg", photo_file_size: 5, width: 1, height: 1, text: "look" },
      { kind: "media", content: "look", attachments: [{ kind: "image", name: "p.jpg", size: 5, available: false }] },
    ],
    [
      "a photo that is not there",
      { photo: NOT_INCLUDED },
      { kind: "media", attachments: [{ kind: "image", available: false }] },
    ],
    [
      "a file",
      { file: NOT_INCLUDED, file_name: "a.pdf", file_size: 1234, mime_type: "application/pdf" },
      {
        kind: "media",
        attachments: [{ kind: "file", name: "a.pdf", size: 1234, mime: "application/pdf", available: false }],
      },
    ],
    [
      "a voice message",
      { file: "v.ogg", media_type: "voice_message", mime_type: "audio/ogg", duration_seconds: 4 },
      { attachments: [{ kind: "voice", name: "v.ogg", mime: "audio/ogg", durationS: 4, available: false }] },
    ],
    ["a video message", { file: "v.mp4", media_type: "video_message" }, { attachments: [{ kind: "video" }] }],
    [
      "a song",
      { file: "s.mp3", media_type: "audio_file", performer: "X", title: "Y" },
      { content: "X – Y", attachments: [{ kind: "audio" }] },
    ],
    [
      "a sticker",
      { file: NOT_INCLUDED, media_type: "sticker", sticker_emoji: "😀" },
      { kind: "sticker", content: "😀", attachments: [{ kind: "sticker", available: false }] },
    ],
    [
      "a poll",
      {
        poll: {
          question: "Lunch?",
          closed: false,
          total_voters: 1,
          answers: [{ text: "yes", voters: 1, chosen: true }],
        },
      },
      { kind: "poll", content: "Lunch?\n- yes (1)" },
    ],
    [
      "a contact",
      { contact_information: { first_name: "Bo", last_name: "", phone_number: "+358 1" } },
      { kind: "contact", content: "Bo +358 1" },
    ],
    [
      "a place",
      { place_name: "Park", address: "Street 1", location_information: { latitude: 60.1, longitude: 24.9 } },
      { kind: "location", content: "Park, Street 1, 60.1,24.9" },
    ],
    ["a place that is gone", { location_information: null }, { kind: "location", content: "" }],
  ])("media: %s", async (_, fields, expected) => {
    expect(await readMessages([message(1, fields)])).toMatchObject([expected]);
  });

  it("service messages are of kind system, calls of kind call", async () => {
    const service = { type: "service", actor: "Antti", actor_id: "user700000001" };
    const found = await readMessages([
      message(1, { ...service, action: "joined_telegram" }),
      message(2, { ...service, action: "phone_call", duration_seconds: 120 }),
      message(3, { ...service, action: "some_new_thing" }),
      message(4, { ...service, action: "invite_members", members: ["Bo", null] }),
    ]);
    expect(found.map(({ kind, content }) => [kind, content])).toEqual([
      ["system", "Antti joined Telegram"],
      ["call", "Antti called (120 s)"],
      ["system", "Antti some new thing"],
      ["system", "Antti added Bo, somebody"],
    ]);
    expect(found[0]).not.toHaveProperty("sender");
    expect(found[1]).toMatchObject({ sender: "700000001" });
  });

  it("a message of an unknown kind gets the time of the previous one", async () => {
    const found = await readMessages([message(1, {}), { id: 2, type: "unsupported" }]);
    expect(found[1]).toEqual({
      id: "2",
      chat: "700000001",
      at: at(1),
      kind: "unsupported",
      content: expect.stringContaining("could not export"),
    });
  });

  it("without date_unixtime, the date is in the given time zone", async () => {
    const old = { id: 1, type: "message", date: "2020-07-05T16:55:32", from: null, from_id: 5, text: "x" };
    const { messages, people } = await read(writeJson(oneChat([old])), { timeZone: "Europe/Helsinki" });
    expect(messages).toMatchObject([{ at: Date.parse("2020-07-05T13:55:32Z"), sender: "5" }]);
    expect(people).toMatchObject([{ id: "5", name: "Deleted Account" }]);
  });
});

describe("a whole account", () => {
  const account = {
    about: "Here is the data you requested.",
    personal_information: {
      user_id: 1,
      first_name: "Me",
      last_name: "Myself",
      phone_number: "+358 40",
      username: "@me",
    },
    profile_pictures: [{ date: "2025-01-13T09:00:00", photo: "p.jpg" }],
    contacts: {
      about: "x",
      list: [{ user_id: 2, first_name: "Bo", last_name: "", phone_number: "+358 50" }, { date: "2025-01-13T09:00:00" }],
    },
    chats: {
      about: "x",
      list: [
        {
          type: "saved_messages",
          id: 1,
          messages: [message(1, { from: "Me Myself", from_id: "user1", text: "note" })],
        },
        {
          name: "Team",
          type: "private_supergroup",
          id: 77,
          messages: [message(1, { text: "a" }), message(2, { text: "b" })],
        },
        { name: "Helper", type: "bot_chat", id: 9, messages: [message(1, { from: "Helper", from_id: "user9" })] },
        { name: null, type: "personal_chat", id: 8, messages: [] },
      ],
    },
    left_chats: {
      about: "x",
      list: [
        { name: "Old", type: "public_channel", id: 78, messages: [message(1, { from: "Old", from_id: "channel78" })] },
      ],
    },
    sessions: { about: "x", list: [{ last_ip: "::1" }] },
  };

  it("CH-12 imports all chats including left ones, contacts and the user", async () => {
    const { chats, people, messages, report } = await read(writeJson(account));
    expect(chats).toEqual([
      { id: "1", type: "self", name: "Saved Messages" },
      { id: "-10077", type: "group", name: "Team" },
      { id: "9", type: "bot", name: "Helper", sameAs: ["bot:9:1"] },
      { id: "8", type: "direct", name: "Deleted Account", sameAs: ["business:1:8"] },
      { id: "-10078", type: "channel", name: "Old" },
    ]);
    expect(people).toEqual([
      { id: "1", name: "Me Myself", phone: "+358 40", username: "me", isSelf: true },
      { id: "2", name: "Bo", phone: "+358 50" },
      { id: "300000001", name: "Alice" },
      { id: "9", name: "Helper", isBot: true },
      { id: "-10078", name: "Old" },
    ]);
    expect(messages.map(({ chat, id, content }) => [chat, id, content])).toEqual([
      ["1", "1", "note"],
      ["-10077", "1", "a"],
      ["-10077", "2", "b"],
      ["9", "1", ""],
      ["-10078", "1", ""],
    ]);
    expect(report).toMatchObject({ chats: 5, messages: 5, skipped: 0, problems: [] });
  });

  it("compact JSON with a byte order mark gives the same result", async () => {
    const { messages, report } = await read(`\ufeff${JSON.stringify(account)}`);
    expect(messages).toHaveLength(5);
    expect(report).toMatchObject({ chats: 5, skipped: 0 });
  });

  it("a chat whose name and type come after its messages", async () => {
    const sorted = JSON.stringify({
      id: 5,
      messages: [message(1, { text: "x" })],
      name: "Antti",
      type: "personal_chat",
    });
    const { chats, messages } = await read(sorted);
    expect(chats).toEqual([{ id: "5" }, { id: "5", name: "Antti", type: "direct" }]);
    expect(messages).toMatchObject([{ chat: "5", content: "x" }]);
  });
});

describe("damage", () => {
  const good = writeJson(oneChat([...messagesOfTwo(5)]));
  const idsOf = (found: { messages: readonly { id: string }[] }) => found.messages.map(({ id }) => id);

  it("a truncated file is read up to its end", async () => {
    const found = await read(good.slice(0, good.indexOf("Message 4")));
    expect(idsOf(found)).toEqual(["1", "2", "3"]);
    expect(found.report).toMatchObject({ skipped: 1 });
    expect(found.report.problems).toHaveLength(2);
  });

  it.each<[string, string, string]>([
    ["a quote is missing", '"from": "Antti"', '"from": "Antti'],
    ["a bracket is missing", '"text_entities": [', '"text_entities": '],
    ["a bracket too many", '"text_entities": [', '"text_entities": [['],
    ["a brace is missing", '"type": "plain",', '"type": "plain"},'],
    ["a comma is missing", '"type": "message",', '"type": "message"'],
  ])("%s: one message is lost and its position reported", async (_, whole, broken) => {
    const second = good.indexOf('"id": 2');
    const found = await read(good.slice(0, second) + good.slice(second).replace(whole, broken));
    expect(idsOf(found)).toEqual(["1", "3", "4", "5"]);
    expect(found.report.skipped).toBe(1);
    expect(found.report.problems[0]).toMatch(/^byte \d+: /);
  });

  it("a message without its end is lost, the next one is read", async () => {
    const found = await read(good.replace('  },\n  {\n   "id": 3', '  {\n   "id": 3'));
    expect(idsOf(found)).toEqual(["1", "3", "4", "5"]);
  });

  it("invalid UTF-8 is read with the replacement character and reported", async () => {
    const bytes = Buffer.from(good);
    bytes[bytes.indexOf("Message 2") + 1] = 0xff;
    const found = await read(bytes);
    expect(found.messages[1]?.content).toContain("M\ufffdssage 2");
    expect(found.report).toMatchObject({ messages: 5, skipped: 0 });
    expect(found.report.problems).toHaveLength(1);
  });

  it("a message beyond the size limit is skipped", async () => {
    const huge = writeJson(oneChat([message(1, { text: "x".repeat(9_000_000) }), message(2, { text: "y" })]));
    const found = await read(huge);
    expect(idsOf(found)).toEqual(["2"]);
    expect(found.report.skipped).toBe(1);
  });

  it("messages without an id or time are skipped and counted", async () => {
    const found = await read(
      writeJson(oneChat([{ type: "message" }, { id: 1, type: "message" }, "x", message(2, {})])),
    );
    expect(idsOf(found)).toEqual(["2"]);
    expect(found.report.skipped).toBe(3);
  });
});

it("CH-12 memory stays flat while reading a large file", async () => {
  const count = scaled(50_000, 1_000_000);
  const path = await folder.file("result.json", "");
  const { open } = await import("node:fs/promises");
  const file = await open(path, "w");
  for (const piece of largeChat(count)) await file.write(piece);
  const { size } = await file.stat();
  await file.close();
  let peak = 0;
  const startedAt = performance.now();
  const reading = telegramImporter.read({
    path,
    timeZone: "UTC",
    signal: new AbortController().signal,
    onProgress: () => {
      peak = Math.max(peak, process.memoryUsage().rss);
    },
  });
  const before = process.memoryUsage().rss;
  let found = await reading.next();
  while (found.done !== true) found = await reading.next();
  const seconds = (performance.now() - startedAt) / 1000;
  process.stderr.write(
    `telegram: ${count} messages, ${(size / 1e6).toFixed(0)} MB, ${(count / seconds).toFixed(0)}/s, memory +${((peak - before) / 1e6).toFixed(0)} MB\n`,
  );
  expect(found.value).toMatchObject({ messages: count, skipped: 0 });
  expect(peak - before).toBeLessThan(150_000_000);
});

it("an old export with local times reports the assumed time zone", async () => {
  const old = oneChat([{ id: 1, type: "message", date: "2019-06-01T12:00:00", ...alice, text: "hi" }]);
  const { messages, report } = await read(writeJson(old), { timeZone: "Europe/Helsinki" });
  expect(messages[0]?.at).toBe(Date.parse("2019-06-01T09:00:00Z"));
  expect(report.notes).toEqual(["Times are read as Europe/Helsinki: the file has no time zone."]);
  expect((await read(writeJson(oneChat([message(1, { text: "hi" })])))).report.notes).toEqual([]);
});
