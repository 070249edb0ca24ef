// Photos, voice messages and files of imported chats, as agents and the user get them.

import { mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  connectChat,
  makeChatHome,
  runChat,
  type ChatClient,
  type ChatHome,
  type Era,
} from "../support/chat/client.ts";
import { zipOf } from "../support/chat/zip.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const OGG = Buffer.from("OggS\0sound", "latin1");

const at = (days: number) => String(Math.round(Date.now() / 1000) - days * 86_400);
const FROM = { type: "message", from: "Antti", from_id: "user7", text: "" };
const EXPORT = {
  chats: {
    list: [
      {
        name: "Antti",
        type: "personal_chat",
        id: 7,
        messages: [
          { id: 1, ...FROM, date_unixtime: at(900), photo: "photos/old.png" },
          { id: 2, ...FROM, date_unixtime: at(5), photo: "photos/p.jpg" },
          { id: 3, ...FROM, date_unixtime: at(4), file: "voice_messages/v.ogg", media_type: "voice_message" },
          {
            id: 4,
            ...FROM,
            date_unixtime: at(3),
            file: "files/Bob.vcf",
            mime_type: "text/vcard",
            file_name: "Bob.vcf",
          },
          { id: 5, ...FROM, date_unixtime: at(2), file: "files/a.pdf", mime_type: "application/pdf" },
          { id: 6, ...FROM, date_unixtime: at(1), photo: "photos/gone.jpg" },
          { id: 8, ...FROM, date_unixtime: at(1), file: "files/huge.bin" },
          { id: 9, ...FROM, date_unixtime: at(0), text: "no attachment" },
        ],
      },
      {
        name: "Doctor",
        type: "personal_chat",
        id: 8,
        messages: [{ id: 1, ...FROM, date_unixtime: at(1), photo: "photos/p.jpg" }],
      },
    ],
  },
};

let home: ChatHome;
let client: ChatClient | undefined;
const path = (name: string) => join(home.dir, name);

beforeEach(async () => {
  home = await makeChatHome({});
  for (const folder of ["photos", "voice_messages", "files"])
    await mkdir(path(`export/${folder}`), { recursive: true });
  await writeFile(path("export/result.json"), JSON.stringify(EXPORT));
  await writeFile(path("export/photos/p.jpg"), PNG);
  await writeFile(path("export/photos/old.png"), PNG);
  await writeFile(path("export/voice_messages/v.ogg"), OGG);
  await writeFile(path("export/files/Bob.vcf"), "BEGIN:VCARD\nTEL:+358401234567\nEND:VCARD\n");
  await writeFile(path("export/files/a.pdf"), "%PDF-1.7");
  await writeFile(path("export/files/huge.bin"), Buffer.alloc(8 * 2 ** 20 + 1));
  await runChat(home, "import", path("export"));
});
afterEach(async () => {
  await client?.close();
  client = undefined;
  await home.remove();
});

/** Changes members of chat.json. */
async function configure(change: object, source: object = {}): Promise<void> {
  const config = JSON.parse(await readFile(path("chat.json"), "utf8"));
  const telegram = { ...config.sources.telegram, ...source };
  await writeFile(path("chat.json"), JSON.stringify({ ...config, ...change, sources: { telegram } }));
}

const get = async (message: number, args: object = {}) =>
  (client as ChatClient).call("get_attachment", {
    source: "telegram",
    chat: "Antti",
    message_id: String(message),
    ...args,
  });
const failure = async (message: number, args: object = {}) => (await get(message, args)).json.error;

describe.each<Era>(["legacy", "modern"])("CH-12 get_attachment, %s", (era) => {
  it("returns images and audio as such, texts as text, other files as bytes; resources do the same", async () => {
    client = await connectChat(era, { home });
    const { json, text } = await client.call("get_messages", { source: "telegram", chat: "Antti" });
    expect(text).toMatch(/image gone\.jpg\n[^]*image p\.jpg \(available\)\n/);
    const available = json.messages.map((one: { id: string; attachments?: { available: boolean }[] }) => [
      one.id,
      one.attachments?.map((attachment) => attachment.available),
    ]);
    expect(available).toEqual([
      ["9", undefined],
      ["8", [true]],
      ["6", [false]],
      ["5", [true]],
      ["4", [true]],
      ["3", [true]],
      ["2", [true]],
      ["1", [true]],
    ]);
    expect(JSON.stringify(json)).not.toContain(home.dir);

    const picture = await get(2);
    expect(picture.content[1]).toEqual({ type: "image", mimeType: "image/png", data: PNG.toString("base64") });
    expect(picture.text).toBe(`image p.jpg (image/png, ${PNG.length} bytes)`);
    const uri = "attachment://telegram/Antti/2/1";
    expect(picture.json).toEqual({ uri, kind: "image", name: "p.jpg", mime: "image/png", size: PNG.length });
    expect((await get(3)).content[1]).toEqual({ type: "audio", mimeType: "audio/ogg", data: OGG.toString("base64") });
    expect((await get(4)).content[1]).toMatchObject({
      type: "resource",
      resource: { mimeType: "text/vcard", text: "BEGIN:VCARD\nTEL:+358401234567\nEND:VCARD\n" },
    });
    expect((await get(5)).content[1]).toMatchObject({
      type: "resource",
      resource: { mimeType: "application/pdf", blob: Buffer.from("%PDF-1.7").toString("base64") },
    });
    expect(await client.contents(uri)).toEqual([{ uri, mimeType: "image/png", blob: PNG.toString("base64") }]);
    expect(await client.read("attachment://telegram/Antti/4/1")).toContain("BEGIN:VCARD");
    const templates = (await client.templates()).map(({ uriTemplate }) => uriTemplate);
    expect(templates).toContain("attachment://{source}/{chat}/{message}/{number}");

    expect(await failure(6)).toMatchObject({
      code: "ATTACHMENT_NOT_AVAILABLE",
      hint: expect.stringContaining("Export the chat with its media"),
    });
    expect(await failure(8)).toMatchObject({
      code: "ATTACHMENT_NOT_AVAILABLE",
      message: expect.stringContaining("8,388,609 bytes"),
      hint: expect.stringContaining('plugboard chat attachment "telegram" "Antti" "8" 1'),
    });
    expect(await failure(9)).toMatchObject({ code: "INVALID_PARAMETER", message: "The message has no attachment" });
    expect(await failure(2, { attachment: 2 })).toMatchObject({ code: "INVALID_PARAMETER" });
    expect(await failure(7)).toMatchObject({ code: "MESSAGE_NOT_FOUND" });
    await expect(client.read("attachment://telegram/Antti/6/1")).rejects.toThrow("not available");
  });
});

it("CH-12 attachments of hidden or old messages are not found, and redaction applies to them", async () => {
  await configure({ max_age: "1y", redact: { kinds: ["phone"] } }, { chats: { hide: ["Doctor"] } });
  client = await connectChat("modern", { home });
  expect(await failure(1, { chat: "Doctor" })).toMatchObject({ code: "CHAT_NOT_FOUND" });
  await expect(client.read("attachment://telegram/8/1/1")).rejects.toThrow("not found");
  expect(await failure(1)).toMatchObject({ code: "MESSAGE_NOT_FOUND" });
  expect((await get(4)).content[1]).toMatchObject({ resource: { text: "BEGIN:VCARD\nTEL:[phone-1]\nEND:VCARD\n" } });
  expect(await failure(2)).toMatchObject({
    code: "ATTACHMENT_NOT_AVAILABLE",
    hint: expect.stringContaining('"attachments": true'),
  });
  await client.close();
  await configure({ attachments: true });
  client = await connectChat("modern", { home });
  expect((await get(2)).content[1]).toMatchObject({ type: "image" });
  await client.close();
  await configure({ attachments: false, redact: undefined });
  client = await connectChat("modern", { home });
  expect(await failure(2)).toMatchObject({ code: "ATTACHMENT_NOT_AVAILABLE" });
});

it("CH-12 attachments of a moved export are missing until it is imported again; files outside are never read", async () => {
  client = await connectChat("modern", { home });
  await rename(path("export"), path("moved"));
  expect(await failure(2)).toMatchObject({
    code: "ATTACHMENT_NOT_AVAILABLE",
    message: expect.stringMatching(/export no longer exists/),
    hint: expect.stringContaining("import it again"),
  });
  const again = await runChat(home, "import", path("moved"));
  expect(again.stdout).toContain("0 new in source telegram");
  expect((await get(2)).content[1]).toMatchObject({ type: "image" });
  await writeFile(path("secret.png"), PNG);
  await rm(path("moved/photos/p.jpg"));
  await symlink(path("secret.png"), path("moved/photos/p.jpg"));
  expect(await failure(2)).toMatchObject({ message: expect.stringContaining("is outside of the export") });
  // An import without the media files keeps the known messages.
  await rm(path("moved/photos"), { recursive: true });
  await runChat(home, "import", path("moved"));
  expect(await failure(2)).toMatchObject({
    message: expect.stringContaining("photos/p.jpg is no longer in the export"),
  });
});

it("CH-12 importing a WhatsApp zip with media adds files to messages that were imported without", async () => {
  const head = "13/1/25, 10:00 - Ann: ";
  await writeFile(path("WhatsApp Chat with Ann.txt"), `${head}<Media omitted>\n`);
  await runChat(home, "import", path("WhatsApp Chat with Ann.txt"));
  const files = { "_chat.txt": `${head}IMG-20250113-WA0001.jpg (file attached)\n`, "IMG-20250113-WA0001.jpg": PNG };
  await writeFile(path("WhatsApp Chat with Ann.zip"), zipOf(files));
  const imported = await runChat(home, "import", path("WhatsApp Chat with Ann.zip"));
  expect(imported.stdout).toContain("0 new in source whatsapp");
  client = await connectChat("modern", { home });
  const { json } = await client.call("get_messages", { source: "whatsapp" });
  expect(json.messages[0].attachments).toEqual([{ kind: "image", name: "IMG-20250113-WA0001.jpg", available: true }]);
  const found = await get(0, { source: "whatsapp", chat: "Ann", message_id: json.messages[0].id });
  expect(found.content[1]).toMatchObject({ type: "image", data: PNG.toString("base64") });
});

it("CH-12 the command saves an attachment of any size, and does not overwrite by default", async () => {
  const save = (...args: string[]) => runChat(home, "attachment", "telegram", "Antti", ...args);
  const target = path("saved.bin");
  expect(await save("8", "-o", target)).toMatchObject({ code: 0, stdout: `${target}: 8,388,609 bytes\n` });
  expect(await readFile(target)).toHaveLength(8_388_609);
  expect(await save("2", "1", "-o", target)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/saved\.bin already exists\n {2}fix: .*--force/),
  });
  expect(await save("2", "1", "-o", target, "--force")).toMatchObject({ code: 0 });
  expect(await readFile(target)).toEqual(PNG);
  expect(await save("6", "-o", path("x"))).toMatchObject({ code: 1, stderr: expect.stringContaining("not available") });
  expect(await save("2", "first")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Invalid attachment number"),
  });
});
