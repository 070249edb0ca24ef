import { afterEach, beforeEach, expect, it } from "vitest";
import { type Folder, importFile, temporaryFolder } from "../../../../test/support/chat/import-file.ts";
import { discordImporter } from "./importer.ts";

let folder: Folder;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

const at = "2025-01-13T09:00:00.123+00:00";
const ann = { id: "1", name: "ann", nickname: "Ann", isBot: false };

it("CH-12 imports a server channel: people, replies, edits, reactions, attachments and system messages", async () => {
  const file = {
    guild: { id: "9", name: "Club" },
    channel: { id: "7", type: "GuildTextChat", name: "general" },
    messages: [
      {
        id: "100",
        type: "Default",
        timestamp: at,
        timestampEdited: "2025-01-13T09:01:00+02:00",
        content: "old",
        author: ann,
      },
      {
        id: "101",
        type: "Reply",
        timestamp: at,
        content: "yes",
        author: { id: "2", name: "bot", isBot: true },
        reference: { messageId: "100" },
        reactions: [{ emoji: { name: "👍" }, count: 2, users: [{ id: "1" }] }],
      },
      {
        id: "102",
        type: "Default",
        timestamp: at,
        content: "",
        author: ann,
        attachments: [
          { fileName: "p.png", url: "https://cdn.example/p.png", fileSizeBytes: 5 },
          { fileName: "v.mp4", url: "files/v.mp4" },
        ],
      },
      { id: "103", type: "ChannelPinnedMessage", timestamp: at, content: "Pinned a message.", author: ann },
      {
        id: "104",
        type: "Default",
        timestamp: at,
        content: "",
        author: ann,
        embeds: [{ title: "T", description: "D" }],
      },
      { id: "105", type: "Default", timestamp: "never", content: "x", author: ann },
    ],
  };
  const { chats, people, messages, report } = await importFile(
    discordImporter,
    await folder.file("x.json", JSON.stringify(file, null, 2)),
    { self: "ann" },
  );
  expect(chats).toEqual([{ id: "7", name: "Club #general", type: "group" }]);
  expect(people).toEqual([
    { id: "1", name: "Ann", username: "ann", isSelf: true },
    { id: "2", name: "bot", username: "bot", isBot: true },
  ]);
  const [edited, reply, files, pinned, embed] = messages;
  expect(edited).toMatchObject({
    id: "100",
    at: Date.parse(at),
    editedAt: Date.parse("2025-01-13T07:01:00Z"),
    content: "old",
  });
  expect(reply).toMatchObject({
    replyTo: "100",
    reactions: [
      { emoji: "👍", by: "1" },
      { emoji: "👍", count: 1 },
    ],
  });
  expect(files?.attachments).toEqual([
    { kind: "image", name: "p.png", size: 5, available: false },
    { kind: "video", name: "v.mp4", available: false },
  ]);
  expect(pinned).toMatchObject({ kind: "system" });
  expect(embed).toMatchObject({ content: "T\nD" });
  expect(report).toMatchObject({ messages: 5, skipped: 1 });
});
