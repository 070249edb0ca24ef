// Imports Signal's own export, `main.jsonl`: one backup frame per line in proto3 JSON. Frames come after those they refer to.
// Signal leaves disappearing messages out.

import { basename } from "node:path";
import type { FileImporter, FileSigns, ImportLimits } from "../../model/source.ts";
import { type Fields, fieldsOf, isJson, parseFields } from "../fields.ts";
import { lineTooLong } from "../import-limits.ts";
import { type Line, LineSplitter } from "../lines.ts";
import { TRUNCATED, type ImportCollector } from "../import-collector.ts";
import { readMember, type MemberReader } from "../read-member.ts";
import { SignalFiles } from "./files.ts";
import { Items } from "./items.ts";
import { ReadMarks } from "./read-marks.ts";
import { Recipients } from "./recipients.ts";

const FORMAT = "signal-jsonl";
const FILE_NAME = "main.jsonl";

export const signalImporter: FileImporter = {
  format: FORMAT,
  sourceKind: "signal",
  changes: ["edits", "reactions", "deletions"],

  recognises({ head, names }: FileSigns): boolean {
    const text = head.toString("latin1");
    if (text === "" || text.startsWith("PK")) return names.some(isMain);
    return /^\s*\{[^\n]*"backupTimeMs"\s*:/.test(text) || /^\s*\{"account":\{/.test(text);
  },

  read: (file) =>
    readMember(file, {
      format: FORMAT,
      choose: (members) => members.find(({ name }) => isMain(name)) ?? (members.length === 1 ? members[0] : undefined),
      missing: {
        what: FILE_NAME,
        hint: "In Signal: Settings, Chats, Export chats. Give the folder, the zip or main.jsonl",
      },
      createReader: ({ archive, collector, limits }) => new FrameReader(collector, new SignalFiles(archive), limits),
    }),
};

function isMain(name: string): boolean {
  return basename(name) === FILE_NAME;
}

class FrameReader implements MemberReader {
  readonly #collector: ImportCollector;
  readonly #limits: ImportLimits;
  readonly #recipients = new Recipients();
  readonly #items: Items;
  readonly #read = new ReadMarks();
  readonly #lines: LineSplitter;

  constructor(collector: ImportCollector, files: SignalFiles, limits: ImportLimits) {
    this.#items = new Items({ recipients: this.#recipients, files });
    this.#collector = collector;
    this.#limits = limits;
    this.#lines = new LineSplitter(limits.line_bytes, (line) => this.#onLine(line));
  }

  push(chunk: Buffer): void {
    this.#lines.push(chunk);
  }

  end(): void {
    this.#lines.end();
    for (const event of this.#read.toEvents()) this.#collector.add(event);
  }

  #onLine({ text, number, problem: trouble, isUnterminated: isOpen }: Line): void {
    if (text.trim() === "") return;
    const where = `line ${number}`;
    if (trouble === "too long") return this.#collector.skip(where, lineTooLong(this.#limits));
    const frame = parseFields(text);
    if (frame === undefined) {
      if (isOpen === true && !isJson(text)) return this.#collector.skipTruncated(where, TRUNCATED);
      return this.#collector.skip(where, "not a JSON object");
    }
    if (trouble !== undefined) this.#collector.addProblem(where, trouble);
    this.#onFrame(frame, where);
  }

  /** Ignores frames without messages, such as sticker packs. */
  #onFrame(frame: Fields, where: string): void {
    const account = fieldsOf(frame["account"]);
    if (account !== undefined) return this.#recipients.onAccount(account);
    const recipient = fieldsOf(frame["recipient"]);
    if (recipient !== undefined) {
      const event = this.#recipients.onRecipient(recipient);
      if (event !== undefined) this.#collector.add(event);
      return;
    }
    const chat = fieldsOf(frame["chat"]);
    if (chat !== undefined) return this.#onChat(chat, where);
    const item = fieldsOf(frame["chatItem"]);
    if (item !== undefined) this.#onItem(item, where);
  }

  #onChat(fields: Fields, where: string): void {
    const chat = this.#recipients.onChat(fields);
    if (chat === undefined) this.#collector.skip(where, "a chat with an unknown recipient");
    else this.#collector.add({ type: "chat", chat });
  }

  #onItem(item: Fields, where: string): void {
    const events = this.#items.toEvents(item);
    if (typeof events === "string") return this.#collector.skip(where, events);
    for (const event of events) this.#collector.add(event);
    const [first] = events;
    if (first?.type === "message") this.#read.add(item, first.message);
  }
}
