// Imports a Slack export: lists of users and conversations, and one folder per conversation with one file per day.

import type {
  AttachmentFile,
  ChatType,
  FileImporter,
  FileSigns,
  ImportFile,
  ImportReport,
  SourceEvent,
} from "../../model/source.ts";
import { type Archive, type Member, openArchive } from "../archive.ts";
import { type Fields, fieldsOf, textOf } from "../fields.ts";
import { ImportCollector } from "../import-collector.ts";
import { Directory } from "./directory.ts";
import { senderOf, toMessage } from "./message.ts";

const FORMAT = "slack-export";
/** Size limit of one list or one day of a channel, which are parsed as a whole. */
const MAX_FILE_BYTES = 128_000_000;
const TOO_LARGE = `larger than ${MAX_FILE_BYTES / 1e6} MB`;

const LISTS: readonly (readonly [name: string, type: ChatType])[] = [
  ["channels.json", "group"],
  ["groups.json", "group"],
  ["mpims.json", "group"],
  ["dms.json", "direct"],
];
const USERS = "users.json";
const LIST_NAMES: readonly string[] = [USERS, ...LISTS.map(([name]) => name)];

export const slackImporter: FileImporter = {
  format: FORMAT,
  sourceKind: "slack",
  changes: ["edits", "reactions"],

  recognises({ names }: FileSigns): boolean {
    return names.includes(USERS) && LISTS.some(([list]) => names.includes(list));
  },

  async *read(file: ImportFile): AsyncGenerator<readonly SourceEvent[], ImportReport> {
    const archive = await openArchive(file.path, file.limits);
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
  const collector = new ImportCollector();
  const workspace = new WorkspaceReader(collector, archive, file.self);
  const load = (name: string) =>
    loadJson(
      archive.members.find((member) => member.name === name),
      collector,
      file.signal,
    );
  const days = archive.members.filter(({ name }) => /^[^/]+\/\d{4}-\d\d-\d\d\.json$/.test(name));
  archive.checkLimits([...archive.members.filter(({ name }) => LIST_NAMES.includes(name)), ...days]);
  workspace.onUsers(await load(USERS));
  for (const [name, type] of LISTS) workspace.onChats(type, await load(name));
  const totalBytes = days.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  let bytes = 0;
  for (const day of days.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    workspace.onDay(day.name, await loadJson(day, collector, file.signal));
    bytes += day.sizeBytes;
    yield* collector.batches();
    file.onProgress?.({ bytes, totalBytes, messages: collector.messages });
  }
  if (days.length === 0) collector.addProblem("the export", "no conversation found");
  yield* collector.batches({ all: true });
  return collector.report(FORMAT);
}

/** Undefined if the file is missing or was skipped. */
async function loadJson(member: Member | undefined, collector: ImportCollector, signal: AbortSignal): Promise<unknown> {
  if (member === undefined) return undefined;
  if (member.sizeBytes > MAX_FILE_BYTES) return collector.skip(member.name, TOO_LARGE);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of member.chunks(collector.chunkReader(signal))) {
    bytes += chunk.length;
    if (bytes > MAX_FILE_BYTES) return collector.skip(member.name, TOO_LARGE);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    // The error of JSON.parse would quote messages.
    return collector.skipTruncated(member.name, "not JSON");
  }
}

class WorkspaceReader {
  readonly #collector: ImportCollector;
  readonly #directory: Directory;
  readonly #find: (name: string) => AttachmentFile | undefined;
  readonly #people = new Set<string>();

  constructor(collector: ImportCollector, archive: Archive, self: string | undefined) {
    this.#collector = collector;
    const names = new Set(archive.members.map(({ name }) => name));
    this.#find = (name) => (names.has(name) ? { root: archive.root, name } : undefined);
    this.#directory = new Directory(self);
  }

  onUsers(users: unknown): void {
    for (const person of this.#directory.addUsers(users)) {
      this.#people.add(person.id);
      this.#collector.add({ type: "person", person });
    }
  }

  onChats(type: ChatType, chats: unknown): void {
    for (const chat of this.#directory.addChats(type, chats)) this.#collector.add({ type: "chat", chat });
  }

  onDay(name: string, messages: unknown): void {
    if (messages === undefined) return;
    const folder = name.slice(0, name.indexOf("/"));
    const [unlisted] =
      this.#directory.chat(folder) === undefined ? this.#directory.addChats("group", [{ id: folder }]) : [];
    if (unlisted !== undefined) this.#collector.add({ type: "chat", chat: { ...unlisted, name: folder } });
    const chat = this.#directory.chat(folder)?.id ?? folder;
    if (!Array.isArray(messages)) return this.#collector.skip(name, "not a list of messages");
    for (const [index, message] of messages.entries())
      this.#onMessage(fieldsOf(message), { chat, folder }, `${name}, message ${index + 1}`);
  }

  #onMessage(
    fields: Fields | undefined,
    { chat, folder }: { readonly chat: string; readonly folder: string },
    where: string,
  ): void {
    if (fields === undefined) return this.#collector.skip(where, "not an object");
    const message = toMessage(fields, {
      chat,
      directory: this.#directory,
      // Paths used by slackdump, which writes the same export with files.
      fileOf: (id, name) => this.#find(`${folder}/attachments/${id}-${name}`) ?? this.#find(`__uploads/${id}/${name}`),
    });
    if (typeof message === "string") return this.#collector.skip(where, message);
    this.#onSender(fields);
    this.#collector.add({ type: "message", message, origin: "import" });
  }

  /** Bots and external guests are in no list; their messages contain the name. */
  #onSender(fields: Fields): void {
    const id = senderOf(fields);
    if (id === undefined || this.#people.has(id)) return;
    this.#people.add(id);
    const profile = fieldsOf(fields["user_profile"]) ?? fieldsOf(fields["bot_profile"]);
    const name = textOf(fields["username"]) ?? textOf(profile?.["real_name"]) ?? textOf(profile?.["name"]);
    const isBot = fields["bot_id"] !== undefined;
    this.#collector.add({
      type: "person",
      person: { id, ...(name !== undefined && { name }), ...(isBot && { isBot }) },
    });
  }
}
