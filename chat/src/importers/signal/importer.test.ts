import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Folder, importFile, temporaryFolder } from "../../../../test/support/chat/import-file.ts";
import {
  ALICE,
  BOB,
  GROUP_ID,
  FRAMES,
  item,
  jsonLines,
  sentAt,
  standard,
} from "../../../../test/support/chat/signal-export.ts";
import { zipOf } from "../../../../test/support/chat/zip.ts";
import { signalImporter } from "./importer.ts";

let folder: Folder;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

async function read(items: readonly object[]) {
  const path = await folder.file("main.jsonl", jsonLines([...FRAMES, ...items]));
  const found = await importFile(signalImporter, path);
  expect(found.report).toMatchObject({ skipped: 0, problems: [] });
  return found;
}

it("CH-12 imports people, groups and chats", async () => {
  const { people, chats, report } = await read([]);
  expect(people).toEqual([
    { id: "self", name: "Me Myself", isSelf: true },
    { id: "release-notes", name: "Signal" },
    { id: ALICE.uuid, name: "Alice", phone: "+15550000001", sameAs: ["+15550000001"] },
    { id: BOB.uuid, name: "Bobby", username: "bob.01" },
  ]);
  expect(chats).toEqual([
    {
      id: GROUP_ID,
      name: "Weekend",
      type: "group",
      participantCount: 2,
      sameAs: ["group:S7Bvjk46dxXSAdVz0KpCN2"],
    },
    { id: ALICE.uuid, name: "Alice", type: "direct" },
    { id: "self", name: "Note to Self", type: "self" },
  ]);
  expect(JSON.stringify(chats)).not.toContain("c2VjcmV0");
  expect(report.chats).toBe(3);
});

it("CH-12 imports a text with reactions and quote, identified by author and send time", async () => {
  const { messages } = await read([
    item(0, standard("hungry", { reactions: [{ emoji: "👍", authorId: "1", sentTimestamp: "1763200001000" }] })),
    item(1, {
      authorId: "1",
      outgoing: {},
      ...standard("lunch?", { quote: { targetSentTimestamp: String(sentAt(0)), authorId: ALICE.number } }),
    }),
    item(2, { chatId: "2", ...standard("directly") }),
  ]);
  expect(messages).toMatchObject([
    {
      id: `${ALICE.uuid}:${sentAt(0)}`,
      sender: ALICE.uuid,
      at: sentAt(0),
      kind: "text",
      content: "hungry",
      reactions: [{ emoji: "👍", by: "self", at: 1_763_200_001_000 }],
    },
    { id: `self:${sentAt(1)}`, sender: "self", content: "lunch?", replyTo: `${ALICE.uuid}:${sentAt(0)}` },
    { chat: ALICE.uuid, content: "directly" },
  ]);
});

it("emits the read state of each chat if the export contains it", async () => {
  const items = [
    item(0, { ...standard("read"), incoming: { read: true } }),
    item(1, { ...standard("read, too"), incoming: { read: true } }),
    item(2, standard("new")),
    item(3, { chatId: "2", ...standard("nothing read here") }),
  ];
  const { events } = await read(items);
  expect(events.filter(({ type }) => type === "read")).toEqual([
    { type: "read", chat: GROUP_ID, at: sentAt(1) },
    { type: "read", chat: ALICE.uuid, at: sentAt(3) - 1 },
  ]);
  expect((await read(items.slice(2))).events.filter(({ type }) => type === "read")).toEqual([]);
});

it("mentions are counted in UTF-16 units", async () => {
  const body = "👩‍👧 \ufffc and \ufffc, see";
  const first = body.indexOf("\ufffc");
  const bodyRanges = [
    { start: body.lastIndexOf("\ufffc"), length: 1, mentionAci: BOB.aci },
    { start: first, length: 1, mentionAci: ALICE.aci },
    { length: 3, style: "BOLD" },
    { start: 900, length: 1, mentionAci: ALICE.aci },
  ];
  const { messages } = await read([item(0, { standardMessage: { text: { body, bodyRanges } } })]);
  expect(messages[0]?.content).toBe("👩‍👧 @Alice and @Bobby, see");
});

it("an edited message has the id of its first revision; later revisions are edits", async () => {
  const { events } = await read([
    item(9, { ...standard("third"), revisions: [revision(1, "first"), revision(5, "second")] }),
    item(10, standard("answer", { quote: { targetSentTimestamp: String(sentAt(5)), authorId: ALICE.number } })),
  ]);
  const id = `${ALICE.uuid}:${sentAt(1)}`;
  const ofInterest = events.filter(({ type }) => type === "message" || type === "edit");
  expect(ofInterest).toMatchObject([
    { type: "message", message: { id, at: sentAt(1), content: "first" } },
    { type: "edit", id, content: "second", at: sentAt(5) },
    { type: "edit", id, content: "third", at: sentAt(9) },
    { type: "message", message: { content: "answer", replyTo: id } },
  ]);
});

const revision = (second: number, body: string) => (item(second, standard(body)) as { chatItem: object }).chatItem;

it("a deleted message is emitted as a deletion", async () => {
  const { events, messages } = await read([item(3, { remoteDeletedMessage: {} })]);
  expect(messages).toEqual([]);
  expect(events.at(-1)).toMatchObject({ type: "delete", ids: [`${ALICE.uuid}:${sentAt(3)}`], at: sentAt(3) });
});

describe("kinds", () => {
  const pointer = { contentType: "image/jpeg", fileName: "p.jpg", locatorInfo: { plaintextHash: "AA==", size: 1234 } };

  it.each<[string, object, object]>([
    [
      "a picture",
      standard("see", { attachments: [{ pointer }] }),
      {
        kind: "media",
        content: "see",
        attachments: [{ kind: "image", name: "p.jpg", mime: "image/jpeg", size: 1234, available: false }],
      },
    ],
    [
      "a voice message",
      standard("", { attachments: [{ pointer: { contentType: "audio/aac" }, flag: "VOICE_MESSAGE" }] }),
      { kind: "media", content: "", attachments: [{ kind: "voice" }] },
    ],
    [
      "a flag by its number",
      standard("", { attachments: [{ pointer: {}, flag: 1 }] }),
      { attachments: [{ kind: "voice" }] },
    ],
    [
      "a contact",
      { contactMessage: { contact: { name: { givenName: "Eve" }, number: [{ value: "+1555" }] } } },
      { kind: "contact", content: "Eve +1555" },
    ],
    [
      "a sticker",
      { stickerMessage: { sticker: { emoji: "😀", data: { contentType: "image/webp" } } } },
      { kind: "sticker", content: "😀", attachments: [{ kind: "sticker", mime: "image/webp" }] },
    ],
    [
      "a poll",
      { poll: { question: "When?", options: [{ option: "now", votes: [{ voterId: "1" }] }, { option: "later" }] } },
      { kind: "poll", content: "When?\n- now (1)\n- later (0)" },
    ],
    [
      "a call",
      { updateMessage: { individualCall: { type: "VIDEO_CALL", state: "MISSED" } } },
      { kind: "call", content: "Video call, missed" },
    ],
    [
      "a group call",
      { updateMessage: { groupCall: { state: "JOINED" } } },
      { kind: "call", content: "Group call, joined" },
    ],
    [
      "a change of the group",
      {
        updateMessage: {
          groupChange: { updates: [{ groupNameUpdate: { newGroupName: "Trip" } }, { groupMemberLeftUpdate: {} }] },
        },
      },
      { kind: "system", content: "Group name: Trip; Group member left" },
    ],
    [
      "a simple update",
      { updateMessage: { simpleUpdate: { type: "JOINED_SIGNAL" } } },
      { kind: "system", content: "Joined signal" },
    ],
    [
      "a timer",
      { updateMessage: { expirationTimerChange: { expiresInMs: "60000" } } },
      { kind: "system", content: "Messages disappear after 60 s" },
    ],
    [
      "a new name",
      { updateMessage: { profileChange: { previousName: "A", newName: "B" } } },
      { kind: "system", content: "A is now B" },
    ],
    [
      "a payment",
      { paymentNotification: { amountMob: "1.5", note: "tea" } },
      { kind: "unsupported", content: "A payment of 1.5 MOB: tea" },
    ],
    ["a gift", { giftBadge: {} }, { kind: "unsupported" }],
    ["a view-once picture", { viewOnceMessage: {} }, { kind: "media", content: "" }],
    [
      "an answer to a story",
      { directStoryReplyMessage: { textReply: { text: { body: "nice" } } } },
      { kind: "text", content: "nice" },
    ],
    ["an emoji to a story", { directStoryReplyMessage: { emoji: "🔥" } }, { kind: "text", content: "🔥" }],
    ["an unknown kind", { holographicMessage: {} }, { kind: "unsupported", content: "" }],
  ])("%s", async (_, fields, expected) => {
    const { messages } = await read([item(0, fields)]);
    expect(messages).toMatchObject([expected]);
    if (messages[0]?.kind === "system") expect(messages[0]).not.toHaveProperty("sender");
  });

  it("keeps the expiry of a disappearing message", async () => {
    const { messages } = await read([
      item(0, { expireStartDate: String(sentAt(5)), expiresInMs: "1000", ...standard("x") }),
    ]);
    expect(messages).toMatchObject([{ expiresAt: sentAt(6) }]);
  });
});

describe("files", () => {
  const lines = jsonLines([...FRAMES, item(0, standard("x"))]);

  it("reads the folder and a zip of it", async () => {
    await folder.file("main.jsonl", lines);
    await folder.file("metadata.json", "{}");
    expect((await importFile(signalImporter, folder.path)).report.messages).toBe(1);
    const zip = await folder.file("x.zip", zipOf({ "signal-export/files/a": "x", "signal-export/main.jsonl": lines }));
    expect((await importFile(signalImporter, zip)).report.messages).toBe(1);
  });

  it("reports invalid JSON, invalid UTF-8, an item without author, and a truncated line", async () => {
    const broken = Buffer.from(jsonLines([item(2, standard("h€y"))]));
    broken[broken.indexOf("€") + 1] = 0xff;
    const content = Buffer.concat([
      Buffer.from(`${lines}not json\n`),
      broken,
      Buffer.from(
        jsonLines([
          item(3, { authorId: "99", ...standard("y") }),
          item(4, { chatId: "99" }),
          { chat: { id: "9", recipientId: "99" } },
        ]),
      ),
      Buffer.from(jsonLines([item(5, standard("z"))]).slice(0, 60)),
    ]);
    const { report, messages } = await importFile(signalImporter, await folder.file("main.jsonl", content));
    expect(messages).toHaveLength(2);
    expect(report.skipped).toBe(5);
    expect(report.problems[0]).toBe("line 13: not a JSON object");
    expect(report.problems).toHaveLength(6);
  });
});
