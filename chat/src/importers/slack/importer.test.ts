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

it("CH-12 imports channels, direct messages, threads, reactions, files and system messages", async () => {
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

const BLOCK_TEXT = (type: string, text: string) => ({ type, text: { type: "mrkdwn", text } });

it.each<[string, object, string]>([
  [
    "blocks of an app",
    { text: "", blocks: [BLOCK_TEXT("header", "Build"), BLOCK_TEXT("section", "failed for <@U1>")] },
    "Build\nfailed for @Ann",
  ],
  [
    "blocks without the part already in the text",
    { text: "Build failed", blocks: [BLOCK_TEXT("header", "Build failed"), BLOCK_TEXT("section", "see log")] },
    "Build failed\nsee log",
  ],
  [
    "fields and small print of blocks",
    {
      text: "",
      blocks: [
        {
          type: "section",
          fields: [
            { type: "mrkdwn", text: "a" },
            { type: "mrkdwn", text: "b" },
          ],
        },
        { type: "context", elements: [{ type: "plain_text", text: "c" }] },
      ],
    },
    "a\nb\nc",
  ],
  [
    "rich text without a text",
    {
      text: "",
      blocks: [
        {
          type: "rich_text",
          elements: [
            {
              type: "rich_text_section",
              elements: [
                { type: "text", text: "hi " },
                { type: "user", user_id: "U1" },
                { type: "text", text: ", see " },
                { type: "link", url: "https://example.org", text: "this" },
              ],
            },
            {
              type: "rich_text_list",
              elements: [
                { type: "rich_text_section", elements: [{ type: "text", text: "one" }] },
                { type: "rich_text_section", elements: [{ type: "text", text: "two" }] },
              ],
            },
          ],
        },
      ],
    },
    "hi @Ann, see this (https://example.org)\none\ntwo",
  ],
  [
    "rich text is not said twice",
    {
      text: "hi *there*",
      blocks: [
        {
          type: "rich_text",
          elements: [{ type: "rich_text_section", elements: [{ type: "text", text: "hi there" }] }],
        },
      ],
    },
    "hi *there*",
  ],
  [
    "attachments of an app",
    {
      text: "",
      attachments: [
        {
          pretext: "New",
          title: "Ticket 7",
          text: "It &lt;burns&gt;",
          fields: [{ title: "Who", value: "<@U1>" }],
          fallback: "x",
        },
        { fallback: "only this" },
      ],
    },
    "New\nTicket 7\nIt <burns>\nWho: @Ann\nonly this",
  ],
  [
    "a shared message",
    { text: "look", attachments: [{ is_share: true, author_name: "Bob", text: "the plan" }] },
    "look\nthe plan",
  ],
  [
    "invalid blocks and attachments",
    { text: "plain", blocks: [null, 3, { type: "divider" }], attachments: ["x", {}] },
    "plain",
  ],
])("the text of %s", async (_, fields, content) => {
  const zip = zipOf({
    "users.json": json([{ id: "U1", name: "ann", profile: { display_name: "Ann" } }]),
    "channels.json": json([{ id: "C1", name: "general" }]),
    "general/2025-01-13.json": json([{ type: "message", user: "U1", ts: "1736758860.000100", ...fields }]),
  });
  const { messages } = await importFile(slackImporter, await folder.file("x.zip", zip));
  expect(messages.map((message) => message.content)).toEqual([content]);
});
