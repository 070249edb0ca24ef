// Signal's own export, `main.jsonl`: one frame of a backup on each line, by the rules of proto3's JSON. What a frame refers to
// comes before it. Disappearing messages are not in it: Signal leaves them out.

import { basename } from "node:path";
import { ChatError } from "../../errors.ts";
import type { FileImporter, FileSigns, ImportFile, ImportReport, SourceEvent } from "../../source.ts";
import { type Archive, type Member, openArchive } from "../archive.ts";
import { type Fields, fieldsOf, parseFields } from "../fields.ts";
import { type Line, lineGroups } from "../lines.ts";
import { Reading } from "../reading.ts";
import { Items } from "./items.ts";
import { Recipients } from "./recipients.ts";

const FORMAT = "signal-jsonl";
const FILE_NAME = "main.jsonl";
/** A message of 64 kB with reactions of a large group, and its revisions. */
const MAX_LINE_BYTES = 8_000_000;

export const signalImporter: FileImporter = {
  format: FORMAT,
  sourceKind: "signal",
  tells: ["edits", "reactions", "deletions"],

  recognises({ head, names }: FileSigns): boolean {
    const text = head.toString("latin1");
    if (text === "" || text.startsWith("PK")) return names.some(isMain);
    return /^\s*\{[^\n]*"backupTimeMs"\s*:/.test(text) || /^\s*\{"account":\{/.test(text);
  },

  async *read(file: ImportFile): AsyncGenerator<readonly SourceEvent[], ImportReport> {
    const archive = await openArchive(file.path);
    try {
      return yield* readMember(mainMember(archive, file.path), file);
    } finally {
      archive.close();
    }
  },
};

function isMain(name: string): boolean {
  return basename(name) === FILE_NAME;
}

function mainMember({ members }: Archive, path: string): Member {
  const member = members.find(({ name }) => isMain(name)) ?? (members.length === 1 ? members[0] : undefined);
  if (member !== undefined) return member;
  throw new ChatError("IMPORT_FAILED", `${path} has no ${FILE_NAME}`, {
    field: "path",
    hint: "In Signal: Settings, Chats, Export chats; name its folder, its zip or the main.jsonl in it",
  });
}

async function* readMember(member: Member, file: ImportFile): AsyncGenerator<readonly SourceEvent[], ImportReport> {
  const reading = new Reading();
  const frames = new FrameReader(reading);
  let bytes = 0;
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of member.chunks(reading.reader(file.signal))) {
      bytes += chunk.length;
      yield chunk;
    }
  };
  for await (const lines of lineGroups(counted(), { maxBytes: MAX_LINE_BYTES })) {
    for (const line of lines) frames.add(line);
    yield* reading.take();
    file.onProgress?.({ bytes, totalBytes: member.sizeBytes, messages: reading.messages });
  }
  yield* reading.take({ all: true });
  return reading.report(FORMAT);
}

class FrameReader {
  readonly #reading: Reading;
  readonly #recipients = new Recipients();
  readonly #items = new Items(this.#recipients);

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  add({ text, number, trouble }: Line): void {
    if (text.trim() === "") return;
    const where = `line ${number}`;
    if (trouble === "too long") return this.#reading.skip(where, trouble);
    const frame = parseFields(text);
    if (frame === undefined) return this.#reading.skip(where, "no JSON object");
    if (trouble !== undefined) this.#reading.flag(where, trouble);
    this.#onFrame(frame, where);
  }

  /** Frames of other kinds, such as sticker packs, tell nothing of messages. */
  #onFrame(frame: Fields, where: string): void {
    const account = fieldsOf(frame["account"]);
    if (account !== undefined) return this.#recipients.onAccount(account);
    const recipient = fieldsOf(frame["recipient"]);
    if (recipient !== undefined) {
      const event = this.#recipients.onRecipient(recipient);
      if (event !== undefined) this.#reading.add(event);
      return;
    }
    const chat = fieldsOf(frame["chat"]);
    if (chat !== undefined) return this.#onChat(chat, where);
    const item = fieldsOf(frame["chatItem"]);
    if (item !== undefined) this.#onItem(item, where);
  }

  #onChat(fields: Fields, where: string): void {
    const chat = this.#recipients.onChat(fields);
    if (chat === undefined) this.#reading.skip(where, "a chat with somebody who is not told");
    else this.#reading.add({ type: "chat", chat });
  }

  #onItem(item: Fields, where: string): void {
    const events = this.#items.toEvents(item);
    if (typeof events === "string") return this.#reading.skip(where, events);
    for (const event of events) this.#reading.add(event);
  }
}
