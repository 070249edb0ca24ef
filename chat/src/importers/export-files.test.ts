// Attachments are found in the folder or zip of the export, or beside a single file; and nowhere else.

import { createHash } from "node:crypto";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Folder, importFile, temporaryFolder } from "../../../test/support/chat/import-file.ts";
import { zipOf } from "../../../test/support/chat/zip.ts";
import type { FileImporter } from "../model/source.ts";
import { discordImporter } from "./discord/importer.ts";
import { isText, mimeOf } from "./mime.ts";
import { signalImporter } from "./signal/importer.ts";
import { slackImporter } from "./slack/importer.ts";
import { openStoredFile } from "./stored-file.ts";
import { telegramImporter } from "./telegram/importer.ts";
import { whatsappImporter } from "./whatsapp/importer.ts";

let folder: Folder;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

type Files = Readonly<Record<string, string>>;

async function writeAll(root: string, files: Files): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), content);
  }
}

const telegram = (...paths: string[]): string =>
  JSON.stringify({
    name: "Antti",
    type: "personal_chat",
    id: 7,
    messages: paths.map((photo, index) => ({
      id: index + 1,
      type: "message",
      date_unixtime: String(1_736_758_800 + index),
      from_id: "user7",
      text: "",
      photo,
    })),
  });
const whatsapp = (...names: string[]): string =>
  names.map((name) => `13/1/25, 10:00 - Ann: ${name} (file attached)\n`).join("");
const discord = (...urls: string[]): string =>
  JSON.stringify({
    guild: { id: "0", name: "G" },
    channel: { id: "7", type: "GuildTextChat", name: "general" },
    messages: urls.map((url, index) => ({
      id: String(index),
      type: "Default",
      timestamp: "2025-01-13T09:00:00Z",
      content: "",
      author: { id: "1", name: "ann" },
      attachments: [{ url, fileName: "x.png" }],
    })),
  });
const HASH = createHash("sha256").update("sound").digest();
const KEY = Buffer.alloc(64, 5);
const signal = [
  { version: "1", backupTimeMs: "1" },
  { recipient: { id: "1", contact: { aci: Buffer.alloc(16, 1).toString("base64"), e164: "358401111111" } } },
  { chat: { id: "1", recipientId: "1" } },
  {
    chatItem: {
      chatId: "1",
      authorId: "1",
      dateSent: "1736758800000",
      incoming: {},
      standardMessage: {
        attachments: [
          {
            pointer: {
              contentType: "audio/ogg",
              locatorInfo: { size: 5, plaintextHash: HASH.toString("base64"), key: KEY.toString("base64") },
            },
          },
        ],
      },
    },
  },
]
  .map((frame) => `${JSON.stringify(frame)}\n`)
  .join("");
const mediaName = Buffer.concat([HASH, KEY]).toString("hex");

const slack = {
  "users.json": "[]",
  "channels.json": '[{"id":"C1","name":"general"}]',
  "general/2025-01-13.json": JSON.stringify([
    { ts: "1736758860.000100", user: "U1", text: "", files: [{ id: "F1", name: "a.png", mimetype: "image/png" }] },
    { ts: "1736758861.000100", user: "U1", text: "", files: [{ id: "F2", name: "b.png", mimetype: "image/png" }] },
    { ts: "1736758862.000100", user: "U1", text: "", files: [{ id: "F3", name: "c.png", mimetype: "image/png" }] },
  ]),
};

/** The files of an export, and which of them are found as attachments. */
const EXPORTS: readonly [string, FileImporter, Files, readonly (string | undefined)[]][] = [
  [
    "Telegram",
    telegramImporter,
    { "result.json": telegram("photos/p.jpg", "photos/gone.jpg", "../p.jpg"), "photos/p.jpg": "p" },
    ["photos/p.jpg", undefined, undefined],
  ],
  [
    "Telegram, in a folder of the zip",
    telegramImporter,
    { "DataExport/result.json": telegram("photos/p.jpg", "photos/p (1).jpg"), "DataExport/photos/p (1).jpg": "p" },
    [undefined, "DataExport/photos/p (1).jpg"],
  ],
  [
    "WhatsApp",
    whatsappImporter,
    { "_chat.txt": whatsapp("IMG-20250113-WA0001.jpg", "IMG-20250113-WA0002.jpg"), "IMG-20250113-WA0001.jpg": "p" },
    ["IMG-20250113-WA0001.jpg", undefined],
  ],
  [
    "Signal",
    signalImporter,
    { "main.jsonl": signal, [`files/ab/${mediaName}.ogg`]: "sound" },
    [`files/ab/${mediaName}.ogg`],
  ],
  [
    "Signal, of another size",
    signalImporter,
    { "main.jsonl": signal, [`files/${mediaName}.ogg`]: "other!" },
    [undefined],
  ],
  [
    "Slack, as slackdump writes it",
    slackImporter,
    { ...slack, "general/attachments/F1-a.png": "a", "__uploads/F2/b.png": "b" },
    ["general/attachments/F1-a.png", "__uploads/F2/b.png", undefined],
  ],
  [
    "Discord",
    discordImporter,
    {
      "x.json": discord("x.json_Files/p 1.png", "x.json_Files/p%201.png", "https://cdn.example/p.png", "x.json"),
      "x.json_Files/p 1.png": "p",
    },
    ["x.json_Files/p 1.png", "x.json_Files/p 1.png", undefined, "x.json"],
  ],
];

describe("an attachment is available if its file exists", () => {
  it.each(EXPORTS)("%s", async (_, importer, files, expected) => {
    const inFolder = join(folder.path, "export");
    await writeAll(inFolder, files);
    const zip = await folder.file("export.zip", zipOf(files));
    for (const root of [inFolder, zip]) {
      const { messages } = await importFile(importer, root);
      const attachments = messages.flatMap((message) => message.attachments ?? []);
      expect(attachments.map(({ file }) => file?.name)).toEqual(expected);
      expect(attachments.map(({ available }) => available)).toEqual(expected.map((name) => name !== undefined));
      expect(new Set(attachments.flatMap(({ file }) => file?.root ?? []))).toEqual(
        new Set(expected.some((name) => name !== undefined) ? [root] : []),
      );
    }
  });

  it("for a single-file export, only media folders of the app are used, and no links out of the folder", async () => {
    await writeAll(folder.path, {
      "result.json": telegram(
        "photos/p.jpg",
        "secret.txt",
        ".ssh/id",
        "photos/../secret.txt",
        "photos/link.jpg",
        "/etc/hosts",
      ),
      "photos/p.jpg": "p",
      "secret.txt": "s",
      ".ssh/id": "k",
      "WhatsApp Chat with Ann.txt": whatsapp("IMG-20250113-WA0001.jpg", "secret.txt", "result.json"),
      "IMG-20250113-WA0001.jpg": "w",
      "x.json": discord("x.json_Files/p.png", "secret.txt", "x.json_Files/../secret.txt"),
      "x.json_Files/p.png": "p",
    });
    const outside = await temporaryFolder();
    await symlink(await outside.file("p.jpg", "outside"), join(folder.path, "photos/link.jpg"));
    const found = async (importer: FileImporter, name: string) =>
      (await importFile(importer, join(folder.path, name))).messages
        .flatMap(({ attachments }) => attachments ?? [])
        .flatMap(({ file }) => (file === undefined ? [] : [file.name]));
    expect(await found(telegramImporter, "result.json")).toEqual(["photos/p.jpg"]);
    expect(await found(whatsappImporter, "WhatsApp Chat with Ann.txt")).toEqual(["IMG-20250113-WA0001.jpg"]);
    expect(await found(discordImporter, "x.json")).toEqual(["x.json_Files/p.png"]);
    // The folder may contain other files of the user, which a message may name.
    expect(await found(whatsappImporter, "")).toEqual(["IMG-20250113-WA0001.jpg"]);
    await outside.remove();
  });
});

describe("reading a stored file", () => {
  const read = async (root: string, name: string): Promise<string> => {
    const file = await openStoredFile({ root, name });
    const chunks: Buffer[] = [];
    for await (const chunk of file.chunks(new AbortController().signal)) chunks.push(chunk);
    await file.close();
    expect(file.sizeBytes).toBe(Buffer.concat(chunks).length);
    return Buffer.concat(chunks).toString();
  };

  it("reads from a folder and a zip; a missing or moved file, a link out of the export and a folder are errors", async () => {
    const root = join(folder.path, "export");
    await writeAll(root, { "photos/p.jpg": "picture", "photos/empty.jpg": "" });
    const zip = await folder.file("export.zip", zipOf({ "photos/p.jpg": "picture" }));
    expect(await read(root, "photos/p.jpg")).toBe("picture");
    expect(await read(root, "photos/empty.jpg")).toBe("");
    expect(await read(zip, "photos/p.jpg")).toBe("picture");
    await folder.file("outside.txt", "outside");
    await symlink(join(folder.path, "outside.txt"), join(root, "link.txt"));
    await symlink(folder.path, join(root, "up"));
    const refused = (message: RegExp) => ({
      code: "ATTACHMENT_NOT_AVAILABLE",
      message: expect.stringMatching(message),
      details: { hint: expect.stringContaining("import it again") },
    });
    for (const name of ["link.txt", "up/outside.txt", "../outside.txt", "photos/../../outside.txt"]) {
      await expect(read(root, name)).rejects.toMatchObject(refused(/is outside of the export/));
    }
    await expect(read(root, "photos/other.jpg")).rejects.toMatchObject(refused(/other\.jpg is no longer in/));
    await expect(read(root, "photos")).rejects.toMatchObject(refused(/is no longer a file/));
    await expect(read(zip, "photos/other.jpg")).rejects.toMatchObject(refused(/is no longer in/));
    await expect(read(join(folder.path, "outside.txt"), "x")).rejects.toMatchObject(refused(/Cannot read/));
    await rename(root, join(folder.path, "moved"));
    await rm(zip);
    await expect(read(root, "photos/p.jpg")).rejects.toMatchObject(refused(/The export .*export no longer exists/));
    await expect(read(zip, "photos/p.jpg")).rejects.toMatchObject(refused(/The export .*zip no longer exists/));
  });
});

it.each<[string, string, string | null, string, string, boolean]>([
  ["a picture, whatever its name", "\u0089PNG\r\n\u001a\n", "image/jpeg", "a.jpg", "image/png", false],
  ["a photo", "\u00ff\u00d8\u00ff\u00e0", null, "a", "image/jpeg", false],
  ["a sticker", "RIFF\u0001\u0002\u0003\u0004WEBPVP8 ", null, "a.webp", "image/webp", false],
  ["a voice message", "OggS\u0000", "audio/opus", "a", "audio/ogg", false],
  ["a name that lies", "<html>", null, "a.png", "application/octet-stream", false],
  ["a text", "hello", null, "a.TXT", "text/plain", true],
  ["a contact", "BEGIN:VCARD", null, "Bob.vcf", "text/vcard", true],
  ["binary content with a text extension", "\u00ff\u00fe\u0000", null, "a.txt", "text/plain", false],
  ["an invalid declared type", "x", "text/plain; drop", "a.bin", "application/octet-stream", false],
])("detects the MIME type of %s", (_, head, declared, name, expected, isReadable) => {
  const bytes = Buffer.from(head, "latin1");
  const mime = mimeOf(bytes, { declared, name });
  expect([mime, isText(mime, bytes)]).toEqual([expected, isReadable]);
});
