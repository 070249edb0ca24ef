// WhatsApp's "Export chat": a text file, or the zip that it comes in. Read twice: once for what only the whole tells (the
// order of day and month, who writes), then message by message.

import { basename } from "node:path";
import { ChatError } from "../../errors.ts";
import type { FileImporter, FileSigns, ImportFile, ImportReport, SourceEvent } from "../../source.ts";
import { type Archive, type Member, openArchive } from "../archive.ts";
import { lineGroups } from "../lines.ts";
import { Reading } from "../reading.ts";
import type { Zone } from "../../zone.ts";
import { zoneOf } from "../wall-clock.ts";
import { chatName } from "./chat-name.ts";
import { type Entry, EntryReader } from "./entries.ts";
import { parseHeader } from "./header.ts";
import { MessageIds } from "./ids.ts";
import { type MessageContext, toMessage } from "./message.ts";
import { type Roles, rolesOf } from "./roles.ts";
import { type Survey, Surveyor } from "./survey.ts";

const FORMAT = "whatsapp-text";
/** A message has 65,536 characters. */
const MAX_LINE_BYTES = 1_000_000;
/** Lines that are looked at for a head: the first message may be long. */
const HEAD_LINES = 50;

export const whatsappImporter: FileImporter = {
  format: FORMAT,
  sourceKind: "whatsapp",
  // An edited message has another id: it is made of the words.
  tells: [],

  recognises({ path, head, names }: FileSigns): boolean {
    if (head.length === 0 || head.toString("latin1", 0, 2) === "PK") return names.some(isChatText);
    if (!path.toLowerCase().endsWith(".txt")) return false;
    return head
      .toString("utf8")
      .split("\n", HEAD_LINES)
      .some((line) => parseHeader(line) !== undefined);
  },

  async *read(file: ImportFile): AsyncGenerator<readonly SourceEvent[], ImportReport> {
    const archive = await openArchive(file.path);
    try {
      return yield* readChat(archive, chatMember(archive, file.path), file);
    } finally {
      archive.close();
    }
  },
};

function isChatText(name: string): boolean {
  const base = basename(name).toLowerCase();
  return base.endsWith(".txt") && (base === "_chat.txt" || /whatsapp|واتساب/u.test(base));
}

function chatMember({ members }: Archive, path: string): Member {
  const texts = members.filter(({ name }) => name.toLowerCase().endsWith(".txt"));
  const member = texts.find(({ name }) => isChatText(name)) ?? (members.length === 1 ? members[0] : texts[0]);
  if (member !== undefined) return member;
  throw new ChatError("IMPORT_FAILED", `${path} has no text of a chat in it`, {
    field: "path",
    hint: "In WhatsApp: open the chat, More, Export chat; name the .txt or .zip that it makes",
  });
}

async function* readChat(
  archive: Archive,
  member: Member,
  file: ImportFile,
): AsyncGenerator<readonly SourceEvent[], ImportReport> {
  const reading = new Reading();
  const chunks = twiceThrough(member, file, reading);
  const surveyor = new Surveyor();
  for await (const lines of lineGroups(chunks(), { maxBytes: MAX_LINE_BYTES })) {
    for (const line of lines) surveyor.add(line);
  }
  const survey = surveyor.finish(file.dateOrder);
  if (survey === undefined) {
    reading.skip("the file", "no line in it begins a message of WhatsApp");
    return reading.report(FORMAT);
  }
  const roles = rolesOf(survey, chatName(file.path, member.name), file.self);
  explain(reading, survey, roles, file);
  const chat = new ChatReader({ reading, survey, roles, archive, zone: zoneOf(file.timeZone) });
  for await (const lines of lineGroups(chunks(), { maxBytes: MAX_LINE_BYTES })) {
    for (const line of lines) {
      if (line.trouble !== undefined) reading.flag(`line ${line.number}`, line.trouble);
      chat.add(line);
    }
    yield* reading.take();
  }
  chat.end();
  yield* reading.take({ all: true });
  return reading.report(FORMAT);
}

/** The bytes, each time from the beginning; each of the two readings is half of the progress. */
function twiceThrough(
  member: Member,
  { signal, onProgress }: ImportFile,
  reading: Reading,
): () => AsyncGenerator<Buffer> {
  let bytes = 0;
  return async function* () {
    for await (const chunk of member.chunks(reading.reader(signal))) {
      bytes += chunk.length;
      yield chunk;
      onProgress?.({ bytes: Math.round(bytes / 2), totalBytes: member.sizeBytes, messages: reading.messages });
    }
  };
}

const SPELLED = { DMY: "day, month, year", MDY: "month, day, year", YMD: "year, month, day" } as const;

function explain(reading: Reading, { dates }: Survey, roles: Roles, file: ImportFile): void {
  reading.note(`Dates are read as ${SPELLED[dates.order]} (${dates.order}): ${dates.why}.`);
  reading.note(`Times are taken to be of ${file.timeZone}; the file names no zone.`);
  if (!roles.isNameTold) reading.note(`The file does not tell the chat's name; it is called “${roles.name}”.`);
}

interface ChatOptions {
  readonly reading: Reading;
  readonly survey: Survey;
  readonly roles: Roles;
  readonly archive: Archive;
  readonly zone: Zone;
}

class ChatReader {
  readonly #reading: Reading;
  readonly #entries: EntryReader;
  readonly #context: MessageContext;
  readonly #people = new Set<string>();
  #previousAt: number | undefined;
  #isFirst = true;
  #hasLost = false;

  constructor({ reading, survey, roles, archive, zone }: ChatOptions) {
    this.#reading = reading;
    this.#entries = new EntryReader(survey);
    const chat = roles.name;
    this.#context = {
      chat,
      roles,
      senders: survey.senders,
      files: new Set(archive.members.map(({ name }) => basename(name))),
      ids: new MessageIds(chat),
      zone,
    };
    reading.add({ type: "chat", chat: { id: chat, name: roles.name, type: roles.type } });
  }

  add(line: Parameters<EntryReader["add"]>[0]): void {
    const entry = this.#entries.add(line);
    if (entry === "lost") this.#lose(line.number);
    else if (entry !== undefined) this.#take(entry);
  }

  end(): void {
    const entry = this.#entries.end();
    if (entry !== undefined) this.#take(entry);
  }

  /** All of them are one thing that is lost: what is before the first message. */
  #lose(line: number): void {
    if (!this.#hasLost) this.#reading.skip(`line ${line}`, "it belongs to no message");
    this.#hasLost = true;
  }

  #take(entry: Entry): void {
    const message = toMessage(entry, this.#context, { isFirst: this.#isFirst, previousAt: this.#previousAt });
    this.#isFirst = false;
    this.#previousAt = message.at;
    if (message.sender !== undefined) this.#meet(message.sender);
    this.#reading.add({ type: "message", message, origin: "import" });
  }

  #meet(name: string): void {
    if (this.#people.has(name)) return;
    this.#people.add(name);
    const phone = /^\+[\d\s()\u00a0-]{6,}$/.test(name) ? name.replaceAll(/[^\d+]/g, "") : undefined;
    const isSelf = name === this.#context.roles.self;
    this.#reading.add({
      type: "person",
      person: { id: name, name, ...(phone !== undefined && { phone }), ...(isSelf && { isSelf }) },
    });
  }
}
