// Imports WhatsApp's "Export chat": a text file or its zip. Two passes: the first finds the date order and the senders, the
// second reads the messages.

import { basename } from "node:path";
import type { FileImporter, FileSigns, ImportFile, ImportReport, SourceEvent } from "../../model/source.ts";
import { type Archive, type Member, openArchive } from "../archive.ts";
import { ExportFiles } from "../export-files.ts";
import { lineTooLong, withDefaults } from "../import-limits.ts";
import { LineSplitter } from "../lines.ts";
import { TRUNCATED, ImportCollector } from "../import-collector.ts";
import { requireMember } from "../read-member.ts";
import type { Zone } from "../../model/zone.ts";
import { zoneOf } from "../wall-clock.ts";
import { type FilesByName, isPhoneMade } from "./attachments.ts";
import { chatName } from "./chat-name.ts";
import { type Entry, EntryReader } from "./entries.ts";
import { parseHeader } from "./header.ts";
import { MessageIds } from "./ids.ts";
import { type MessageContext, toMessage } from "./message.ts";
import { type Participants, participantsOf } from "./participants.ts";
import { type FileAnalysis, FileAnalyzer } from "./file-analysis.ts";

const FORMAT = "whatsapp-text";
/** Lines searched for a message header: the first message may be long. */
const HEAD_LINES = 50;

export const whatsappImporter: FileImporter = {
  format: FORMAT,
  sourceKind: "whatsapp",
  // No edits: ids are hashes of the text, so an edited message has another id.
  changes: [],

  recognises({ path, head, names }: FileSigns): boolean {
    if (head.length === 0 || head.toString("latin1", 0, 2) === "PK") return names.some(isChatText);
    if (!path.toLowerCase().endsWith(".txt")) return false;
    return head
      .toString("utf8")
      .split("\n", HEAD_LINES)
      .some((line) => parseHeader(line) !== undefined);
  },

  async *read(file: ImportFile): AsyncGenerator<readonly SourceEvent[], ImportReport> {
    const archive = await openArchive(file.path, file.limits);
    try {
      const member = requireMember(chatMember(archive.members), file.path, {
        what: "chat text",
        hint: "In WhatsApp: open the chat, More, Export chat. Give the resulting .txt or .zip",
      });
      archive.checkLimits([member]);
      return yield* readChat(archive, member, file);
    } finally {
      archive.close();
    }
  },
};

function isChatText(name: string): boolean {
  const base = basename(name).toLowerCase();
  return base.endsWith(".txt") && (base === "_chat.txt" || /whatsapp|واتساب/u.test(base));
}

function chatMember(members: readonly Member[]): Member | undefined {
  const texts = members.filter(({ name }) => name.toLowerCase().endsWith(".txt"));
  return texts.find(({ name }) => isChatText(name)) ?? (members.length === 1 ? members[0] : texts[0]);
}

async function* readChat(
  archive: Archive,
  member: Member,
  file: ImportFile,
): AsyncGenerator<readonly SourceEvent[], ImportReport> {
  const collector = new ImportCollector();
  const limits = withDefaults(file.limits);
  const chunks = chunksOf(member, file, collector);
  const analyzer = new FileAnalyzer();
  const analyzed = new LineSplitter(limits.line_bytes, (line) => analyzer.add(line));
  for await (const chunk of chunks("analysis")) analyzed.push(chunk);
  analyzed.end();
  const analysis = analyzer.finish(file.dateOrder);
  if (analysis === undefined) {
    collector.skip("the file", "no WhatsApp message found");
    return collector.report(FORMAT);
  }
  const participants = participantsOf(analysis, chatName(file.path, member.name), file.self);
  explain(collector, analysis, participants, file);
  const chat = new ChatReader({
    collector,
    analysis,
    participants,
    files: filesBeside(archive, member),
    zone: zoneOf(file.timeZone),
  });
  const read = new LineSplitter(limits.line_bytes, (line) => {
    const { problem, isUnterminated, number } = line;
    const where = `line ${number}`;
    if (problem === "too long") collector.addProblem(where, lineTooLong(limits));
    else if (problem !== undefined && isUnterminated === true) collector.truncated(where, TRUNCATED);
    else if (problem !== undefined) collector.addProblem(where, problem);
    chat.add(line);
  });
  for await (const chunk of chunks("read")) {
    read.push(chunk);
    yield* collector.batches();
  }
  read.end();
  chat.end();
  yield* collector.batches({ all: true });
  return collector.report(FORMAT);
}

/** Each of the two passes counts as half of the progress. */
function chunksOf(
  member: Member,
  { signal, onProgress }: ImportFile,
  collector: ImportCollector,
): (pass: "analysis" | "read") => AsyncGenerator<Buffer> {
  let bytes = 0;
  return async function* (pass) {
    // Damage is reported in the second pass only.
    const reader = pass === "read" ? collector.chunkReader(signal) : { signal, onDamage: () => undefined };
    for await (const chunk of member.chunks(reader)) {
      bytes += chunk.length;
      yield chunk;
      onProgress?.({ bytes: Math.round(bytes / 2), totalBytes: member.sizeBytes, messages: collector.messages });
    }
  };
}

const SPELLED = { DMY: "day, month, year", MDY: "month, day, year", YMD: "year, month, day" } as const;

function explain(
  collector: ImportCollector,
  { dates }: FileAnalysis,
  participants: Participants,
  file: ImportFile,
): void {
  if (dates.isSolarHijri) collector.note("The years are of the Persian calendar.");
  collector.note(`Dates are read as ${SPELLED[dates.order]} (${dates.order}): ${dates.why}.`);
  collector.note(`Times are read as ${file.timeZone}: the file has no time zone.`);
  if (!participants.isNameKnown)
    collector.note(`The file does not contain the chat's name; it is named “${participants.name}”.`);
}

/** In a zip, all files. In a folder, only files named by WhatsApp: a message could name an unrelated file of the user. */
function filesBeside(archive: Archive, chat: Member): FilesByName {
  const files = new ExportFiles(archive, chat, { beside: /^[^/]+$/ });
  const others = archive.members.filter((member) => member !== chat);
  const names = new Map(others.map(({ name }) => [basename(name), name]));
  return {
    has: (name) => names.has(name),
    get: (name) => {
      if (archive.kind !== "zip") return isPhoneMade(name) ? files.find(name) : undefined;
      const found = names.get(name);
      return found === undefined ? undefined : { root: archive.root, name: found };
    },
  };
}

interface ChatOptions {
  readonly collector: ImportCollector;
  readonly analysis: FileAnalysis;
  readonly participants: Participants;
  readonly files: FilesByName;
  readonly zone: Zone;
}

class ChatReader {
  readonly #collector: ImportCollector;
  readonly #entries: EntryReader;
  readonly #context: MessageContext;
  readonly #people = new Set<string>();
  #previousAt: number | undefined;
  #isFirst = true;
  #hasOrphans = false;

  constructor({ collector, analysis, participants, files, zone }: ChatOptions) {
    this.#collector = collector;
    this.#entries = new EntryReader(analysis);
    const chat = participants.name;
    this.#context = {
      chat,
      participants,
      senders: analysis.senders,
      files,
      ids: new MessageIds(chat),
      zone,
      hasMarks: analysis.style.startsWith("["),
    };
    collector.add({ type: "chat", chat: { id: chat, name: participants.name, type: participants.type } });
  }

  add(line: Parameters<EntryReader["add"]>[0]): void {
    const entry = this.#entries.add(line);
    if (entry === "orphan") this.#skipOrphan(line.number);
    else if (entry !== undefined) this.#addEntry(entry);
  }

  end(): void {
    const entry = this.#entries.end();
    if (entry !== undefined) this.#addEntry(entry);
  }

  /** Lines before the first message count as one skipped item. */
  #skipOrphan(line: number): void {
    if (!this.#hasOrphans) this.#collector.skip(`line ${line}`, "belongs to no message");
    this.#hasOrphans = true;
  }

  #addEntry(entry: Entry): void {
    const message = toMessage(entry, this.#context, { isFirst: this.#isFirst, previousAt: this.#previousAt });
    this.#isFirst = false;
    this.#previousAt = message.at;
    if (message.sender !== undefined) this.#addPerson(message.sender);
    this.#collector.add({ type: "message", message, origin: "import" });
  }

  #addPerson(name: string): void {
    if (this.#people.has(name)) return;
    this.#people.add(name);
    const phone = /^\+[\d\s()\u00a0-]{6,}$/.test(name) ? name.replaceAll(/[^\d+]/g, "") : undefined;
    const isSelf = name === this.#context.participants.self;
    this.#collector.add({
      type: "person",
      person: { id: name, name, ...(phone !== undefined && { phone }), ...(isSelf && { isSelf }) },
    });
  }
}
