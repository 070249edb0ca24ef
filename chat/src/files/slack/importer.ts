// Slack's export: lists of users and conversations, and a folder for each conversation with a file for each day.

import type { ChatType, FileImporter, FileSigns, ImportFile, ImportReport, SourceEvent } from "../../source.ts";
import { type Archive, type Member, openArchive } from "../archive.ts";
import { type Fields, fieldsOf, textOf } from "../fields.ts";
import { Reading } from "../reading.ts";
import { Directory } from "./directory.ts";
import { senderOf, toMessage } from "./message.ts";

const FORMAT = "slack-export";
/** Of one day of one channel, or one list. */
const MAX_FILE_BYTES = 128_000_000;

const LISTS: readonly (readonly [name: string, type: ChatType])[] = [
  ["channels.json", "group"],
  ["groups.json", "group"],
  ["mpims.json", "group"],
  ["dms.json", "direct"],
];

export const slackImporter: FileImporter = {
  format: FORMAT,
  sourceKind: "slack",
  tells: ["edits", "reactions"],

  recognises({ names }: FileSigns): boolean {
    return names.includes("users.json") && LISTS.some(([list]) => names.includes(list));
  },

  async *read(file: ImportFile): AsyncGenerator<readonly SourceEvent[], ImportReport> {
    const archive = await openArchive(file.path);
    try {
      return yield* readWorkspace(archive, file);
    } finally {
      archive.close();
    }
  },
};

async function* readWorkspace(
  archive: Archive,
  file: ImportFile,
): AsyncGenerator<readonly SourceEvent[], ImportReport> {
  const reading = new Reading();
  const workspace = new WorkspaceReader(reading, file.self);
  const load = (name: string) =>
    loadJson(
      archive.members.find((member) => member.name === name),
      reading,
      file.signal,
    );
  workspace.onUsers(await load("users.json"));
  for (const [name, type] of LISTS) workspace.onChats(type, await load(name));
  const days = archive.members.filter(({ name }) => /^[^/]+\/\d{4}-\d\d-\d\d\.json$/.test(name));
  const totalBytes = days.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  let bytes = 0;
  for (const day of days.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    workspace.onDay(day.name, await loadJson(day, reading, file.signal));
    bytes += day.sizeBytes;
    yield* reading.take();
    file.onProgress?.({ bytes, totalBytes, messages: reading.messages });
  }
  if (days.length === 0) reading.flag("the export", "no day of a conversation was found in it");
  yield* reading.take({ all: true });
  return reading.report(FORMAT);
}

/** Undefined where it is not there, or could not be read; that is told. */
async function loadJson(member: Member | undefined, reading: Reading, signal: AbortSignal): Promise<unknown> {
  if (member === undefined) return undefined;
  if (member.sizeBytes > MAX_FILE_BYTES) return reading.skip(member.name, "too large");
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of member.chunks(reading.reader(signal))) {
    bytes += chunk.length;
    if (bytes > MAX_FILE_BYTES) return reading.skip(member.name, "too large");
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    // The parser's words would quote messages.
    return reading.skip(member.name, "no JSON");
  }
}

class WorkspaceReader {
  readonly #reading: Reading;
  readonly #directory: Directory;
  readonly #people = new Set<string>();

  constructor(reading: Reading, self: string | undefined) {
    this.#reading = reading;
    this.#directory = new Directory(self);
  }

  onUsers(users: unknown): void {
    for (const person of this.#directory.addUsers(users)) {
      this.#people.add(person.id);
      this.#reading.add({ type: "person", person });
    }
  }

  onChats(type: ChatType, chats: unknown): void {
    for (const chat of this.#directory.addChats(type, chats)) this.#reading.add({ type: "chat", chat });
  }

  onDay(name: string, messages: unknown): void {
    if (messages === undefined) return;
    const folder = name.slice(0, name.indexOf("/"));
    const [unlisted] =
      this.#directory.chat(folder) === undefined ? this.#directory.addChats("group", [{ id: folder }]) : [];
    if (unlisted !== undefined) this.#reading.add({ type: "chat", chat: { ...unlisted, name: folder } });
    const chat = this.#directory.chat(folder)?.id ?? folder;
    if (!Array.isArray(messages)) return this.#reading.skip(name, "no list of messages");
    for (const [index, message] of messages.entries())
      this.#onMessage(fieldsOf(message), chat, `${name}, message ${index + 1}`);
  }

  #onMessage(fields: Fields | undefined, chat: string, where: string): void {
    if (fields === undefined) return this.#reading.skip(where, "no object");
    const message = toMessage(fields, chat, this.#directory);
    if (typeof message === "string") return this.#reading.skip(where, message);
    this.#onSender(fields);
    this.#reading.add({ type: "message", message, origin: "import" });
  }

  /** Bots and guests from elsewhere are in no list; they bring their names along. */
  #onSender(fields: Fields): void {
    const id = senderOf(fields);
    if (id === undefined || this.#people.has(id)) return;
    this.#people.add(id);
    const profile = fieldsOf(fields["user_profile"]) ?? fieldsOf(fields["bot_profile"]);
    const name = textOf(fields["username"]) ?? textOf(profile?.["real_name"]) ?? textOf(profile?.["name"]);
    const isBot = fields["bot_id"] !== undefined;
    this.#reading.add({ type: "person", person: { id, ...(name !== undefined && { name }), ...(isBot && { isBot }) } });
  }
}
