import { afterEach, beforeEach, expect, it } from "vitest";
import { type Folder, importFile, temporaryFolder } from "../../../../test/support/chat/import-file.ts";
import { zipOf } from "../../../../test/support/chat/zip.ts";
import { slackImporter } from "./importer.ts";

let folder: Folder;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

const json = (value: unknown) => JSON.stringify(value);

it("CH-12 channels, direct messages, threads, reactions, files, and what Slack says", async () => {
  const zip = zipOf({
    "users.json": json([
      { id: "U1", name: "ann", profile: { display_name: "Ann" } },
      { id: "U2", name: "bob", profile: { display_name: "", real_name: "Bob B." } },
    ]),
    "channels.json": json([{ id: "C1", name: "general", members: ["U1", "U2"] }]),
    "dms.json": json([{ id: "D1", members: ["U1", "U2"] }]),
    "general/2025-01-14.json": json([
      {
        type: "message",
        user: "U2",
        ts: "1736845260.000200",
        thread_ts: "1736758860.000100",
        text: "yes",
        edited: { ts: "1736845261.000000" },
      },
    ]),
    "general/2025-01-13.json": json([
      {
        type: "message",
        user: "U1",
        ts: "1736758860.000100",
        thread_ts: "1736758860.000100",
        text: "hi <@U2>, see <https://example.org|this> &amp; &lt;that&gt; in <#C1|general> <!here>",
        reactions: [{ name: "+1", users: ["U2"], count: 2 }],
      },
      {
        type: "message",
        subtype: "channel_join",
        user: "U2",
        ts: "1736758861.000100",
        text: "<@U2> has joined the channel",
      },
      {
        type: "message",
        subtype: "bot_message",
        bot_id: "B1",
        username: "helper",
        ts: "1736758862.000100",
        text: "",
        files: [{ name: "a.png", mimetype: "image/png", size: 5 }],
      },
      { type: "message", text: "no time" },
    ]),
    "D1/2025-01-13.json": json([{ type: "message", user: "U1", ts: "1736758870.000100", text: "secret" }]),
    "random/2025-01-13.json": "not json",
  });
  const { chats, people, messages, report } = await importFile(slackImporter, await folder.file("x.zip", zip), {
    self: "Ann",
  });
  expect(chats).toEqual([
    { id: "C1", name: "general", type: "group", participantCount: 2 },
    { id: "D1", name: "Bob B.", type: "direct", participantCount: 2 },
  ]);
  expect(people).toEqual([
    { id: "U1", name: "Ann", username: "ann", isSelf: true },
    { id: "U2", name: "Bob B.", username: "bob" },
    { id: "B1", name: "helper", isBot: true },
  ]);
  expect(messages).toMatchObject([
    { chat: "D1", content: "secret", at: 1_736_758_870_000 },
    {
      id: "1736758860.000100",
      chat: "C1",
      content: "hi @Bob B., see this (https://example.org) & <that> in #general @here",
      reactions: [
        { emoji: ":+1:", by: "U2" },
        { emoji: ":+1:", count: 1 },
      ],
    },
    { kind: "system", content: "@Bob B. has joined the channel" },
    {
      kind: "media",
      sender: "B1",
      attachments: [{ kind: "image", name: "a.png", mime: "image/png", size: 5, available: false }],
    },
    { thread: "1736758860.000100", replyTo: "1736758860.000100", editedAt: 1_736_845_261_000 },
  ]);
  expect(report).toMatchObject({ messages: 5, skipped: 2 });
});
