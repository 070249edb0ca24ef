// Limits of an import: refused before the first message, with the limit and the setting that raises it.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Folder, importFile, temporaryFolder } from "../../../test/support/chat/import-file.ts";
import { zipOf } from "../../../test/support/chat/zip.ts";
import type { FileImporter, ImportLimits } from "../model/source.ts";
import { parseLimit } from "./import-limits.ts";
import { detectImporter } from "./importers.ts";
import { jsonlImporter } from "./jsonl.ts";
import { signalImporter } from "./signal/importer.ts";
import { slackImporter } from "./slack/importer.ts";
import { telegramImporter } from "./telegram/importer.ts";
import { whatsappImporter } from "./whatsapp/importer.ts";

let folder: Folder;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

/** 40 MB in one line: 40 kB as a zip. */
const bomb = (): Buffer => Buffer.concat([Buffer.from("13/1/25, 10:00 - Ann: "), Buffer.alloc(40_000_000, "x")]);
const WHATSAPP = "13/1/25, 10:00 - Ann: one\n13/1/25, 10:01 - Ann: two\n";
const SLACK = {
  "users.json": "[]",
  "channels.json": '[{"id":"C1","name":"general"}]',
  "general/2025-01-13.json": '[{"ts":"1736758860.000100","text":"hi"}]',
};

/** The sizes in the central directory of a zip, which may be wrong. */
function declaring(zip: Buffer, change: Partial<Record<"packed" | "unpacked", number>>): Buffer {
  const changed = Buffer.from(zip);
  const entry = changed.lastIndexOf("PK\u0001\u0002");
  if (change.packed !== undefined) changed.writeUInt32LE(change.packed, entry + 20);
  if (change.unpacked !== undefined) changed.writeUInt32LE(change.unpacked, entry + 24);
  return changed;
}

describe("T23 an export beyond a limit is not read, and the error names the limit and how to raise it", () => {
  it.each<[keyof ImportLimits, FileImporter, () => Record<string, string | Buffer>, Partial<ImportLimits>, number]>([
    ["ratio", whatsappImporter, () => ({ "_chat.txt": bomb() }), {}, 200],
    ["ratio", telegramImporter, () => ({ "result.json": bomb() }), {}, 200],
    ["ratio", signalImporter, () => ({ "main.jsonl": bomb() }), {}, 200],
    ["entries", whatsappImporter, () => ({ "_chat.txt": WHATSAPP, "a.jpg": "a", "b.jpg": "b" }), { entries: 2 }, 2],
    ["entry_bytes", whatsappImporter, () => ({ "_chat.txt": WHATSAPP }), { entry_bytes: 20 }, 20],
    ["total_bytes", slackImporter, () => SLACK, { total_bytes: 60 }, 60],
  ])("%s of a zip, %#", async (limit, importer, files, limits, value) => {
    const path = await folder.file("WhatsApp Chat with Ann.zip", zipOf(files()));
    await expect(importFile(importer, path, { limits })).rejects.toMatchObject({
      code: "IMPORT_FAILED",
      message: expect.stringContaining(`beyond the limit '${limit}' of ${value}: `),
      details: { hint: expect.stringMatching(new RegExp(`--max ${limit}=\\d+ .*options\\.limits\\.${limit}`)) },
    });
  });

  it("entries of a folder, at detection", async () => {
    for (const name of ["_chat.txt", "a.jpg", "b.jpg"]) await folder.file(name, WHATSAPP);
    await expect(detectImporter(folder.path, { entries: 2 })).rejects.toMatchObject({
      message: expect.stringContaining("'entries' of 2: it holds 3 files"),
    });
    expect(await detectImporter(folder.path, { entries: 3 })).toBe(whatsappImporter);
  });

  it("bytes of a plain file, and of one in a folder", async () => {
    const path = await folder.file("WhatsApp Chat with Ann.txt", WHATSAPP);
    await expect(importFile(whatsappImporter, path, { limits: { entry_bytes: 9 } })).rejects.toThrow("'entry_bytes'");
    await mkdir(join(folder.path, "empty"));
    await expect(importFile(whatsappImporter, folder.path, { limits: { total_bytes: 9 } })).rejects.toThrow(
      "'total_bytes'",
    );
  });

  it("overlapping zip entries count by their total size", async () => {
    const day = Buffer.alloc(20_000_000, " ");
    const zip = zipOf({ ...SLACK, "general/2025-01-14.json": day, "general/2025-01-15.json": day });
    await expect(importFile(slackImporter, await folder.file("x.zip", zip))).rejects.toThrow(
      /'ratio' of 200: it unpacks/,
    );
  });
});

it("T23 a raised limit applies, and media files do not count", async () => {
  const path = await folder.file("WhatsApp Chat with Ann.zip", zipOf({ "_chat.txt": bomb(), "b.bin": bomb() }));
  const { report, messages } = await importFile(whatsappImporter, path, { limits: { ratio: 1100 } });
  expect(report).toMatchObject({ messages: 1, problems: [expect.stringContaining("--max line_bytes=")] });
  expect(messages[0]?.content.length).toBeLessThan(8_000_001);
  const beside = await folder.file("x.zip", zipOf({ "_chat.txt": WHATSAPP, "b.bin": bomb() }));
  expect((await importFile(whatsappImporter, beside)).report).toMatchObject({ messages: 2, complete: true });
});

describe("T23 a false zip directory is detected while reading", () => {
  it("more bytes than declared: read up to the declared size and reported as incomplete", async () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => `13/1/25, 10:00 - Ann: number ${index}\n`).join("");
    const zip = declaring(zipOf({ "_chat.txt": lines }), { unpacked: 100_000 });
    const { report } = await importFile(whatsappImporter, await folder.file("x.zip", zip));
    expect(report.messages).toBeLessThan(10_000);
    expect(report).toMatchObject({ complete: false, problems: [expect.stringContaining("the zip is damaged")] });
  });

  it("a false compressed size does not bypass the ratio limit", async () => {
    const zip = declaring(zipOf({ "_chat.txt": bomb() }), { packed: 30_000_000 });
    await expect(importFile(whatsappImporter, await folder.file("x.zip", zip))).rejects.toMatchObject({
      code: "IMPORT_FAILED",
    });
  });
});

describe("a truncated file is reported as incomplete", () => {
  const event = (id: string) =>
    `${JSON.stringify({ type: "message", origin: "import", message: { id, chat: "c", at: 1, kind: "text", content: "x" } })}\n`;
  const cut = (text: string) => text.slice(0, -5);

  it.each<[string, FileImporter, string, string, boolean]>([
    ["events, cut", jsonlImporter, "a.jsonl", cut(event("1") + event("2")), false],
    ["events, whole, without the last newline", jsonlImporter, "a.jsonl", (event("1") + event("2")).trimEnd(), true],
    ["events, one of an unknown kind at the end", jsonlImporter, "a.jsonl", `${event("1")}{"type":"other"}`, true],
    [
      "Signal, cut",
      signalImporter,
      "main.jsonl",
      '{"backupTimeMs":"1"}\n{"account":{"givenName":"A"}}\n{"recip',
      false,
    ],
    [
      "Telegram, cut",
      telegramImporter,
      "result.json",
      '{"name":"A","type":"personal_chat","id":1,"messages":[{',
      false,
    ],
    ["WhatsApp, cut inside a letter", whatsappImporter, "a.txt", `${WHATSAPP}13/1/25, 10:02 - Ann: \u00e4`, false],
    ["WhatsApp, whole", whatsappImporter, "a.txt", WHATSAPP.trimEnd(), true],
  ])("%s", async (_, importer, name, content, complete) => {
    const bytes = Buffer.from(content);
    const isInLetter = name === "a.txt" && !complete;
    const path = await folder.file(name, isInLetter ? bytes.subarray(0, -1) : bytes);
    expect((await importFile(importer, path)).report.complete).toBe(complete);
  });
});

it.each([
  ["ratio=1000", ["ratio", 1000]],
  ["entries=5", ["entries", 5]],
])("parses the limit %s", (text, expected) => expect(parseLimit(text)).toEqual(expected));

it.each(["ratio", "ratio=", "ratio=-1", "ratio=1.5", "size=3", ""])("rejects the limit “%s”", (text) => {
  expect(() => parseLimit(text)).toThrow(expect.objectContaining({ code: "INVALID_PARAMETER" }));
});
