// The JSON of DiscordChatExporter: one channel in one file.

import { ChatError } from "../../errors.ts";
import type {
  ChatType,
  FileImporter,
  FileSigns,
  ImportFile,
  ImportReport,
  NativeChat,
  SourceEvent,
} from "../../source.ts";
import { type Member, openArchive } from "../archive.ts";
import { type Fields, fieldsOf, idOf, parseFields, textOf } from "../fields.ts";
import { type Handling, type JsonPath, JsonSplitter } from "../json-splitter.ts";
import { Reading } from "../reading.ts";
import { toMessage } from "./message.ts";

const FORMAT = "discord-json";
const MAX_MESSAGE_BYTES = 8_000_000;

const TYPES: ReadonlyMap<string, ChatType> = new Map<string, ChatType>([
  ["DirectTextChat", "direct"],
  ["DirectGroupTextChat", "group"],
  ["GuildNews", "channel"],
]);

export const discordImporter: FileImporter = {
  format: FORMAT,
  sourceKind: "discord",
  tells: ["edits", "reactions"],

  recognises({ head }: FileSigns): boolean {
    const text = head.toString("latin1");
    return /^(?:\u00ef\u00bb\u00bf)?\s*\{\s*"guild"\s*:\s*\{/.test(text) && /"channel"\s*:\s*\{/.test(text);
  },

  async *read(file: ImportFile): AsyncGenerator<readonly SourceEvent[], ImportReport> {
    const archive = await openArchive(file.path);
    try {
      const member = archive.members.find(({ name }) => name.endsWith(".json")) ?? archive.members[0];
      if (member === undefined)
        throw new ChatError("IMPORT_FAILED", `${file.path} has no file in it`, { field: "path" });
      return yield* readMember(member, file);
    } finally {
      archive.close();
    }
  },
};

async function* readMember(member: Member, file: ImportFile): AsyncGenerator<readonly SourceEvent[], ImportReport> {
  const reading = new Reading();
  const channel = new ChannelReader(reading, file.self);
  let bytes = 0;
  for await (const chunk of member.chunks(reading.reader(file.signal))) {
    channel.push(chunk);
    bytes += chunk.length;
    yield* reading.take();
    file.onProgress?.({ bytes, totalBytes: member.sizeBytes, messages: reading.messages });
  }
  channel.end();
  yield* reading.take({ all: true });
  return reading.report(FORMAT);
}

function handling(path: JsonPath): Handling {
  const spelled = path.join("/");
  if (spelled === "guild" || spelled === "channel" || spelled === "messages/[]") return "take";
  return spelled === "" || spelled === "messages" ? "enter" : "skip";
}

class ChannelReader {
  readonly #reading: Reading;
  readonly #self: string | undefined;
  readonly #splitter: JsonSplitter;
  readonly #people = new Set<string>();
  #guild: Fields = {};
  #chat: NativeChat | undefined;

  constructor(reading: Reading, self: string | undefined) {
    this.#reading = reading;
    this.#self = self;
    this.#splitter = new JsonSplitter({
      maxBytes: MAX_MESSAGE_BYTES,
      handling,
      onValue: (path, json, offset) => this.#onValue(path, json.toString("utf8"), `byte ${offset}`),
      onLeave: () => undefined,
      onDamage: (offset, why) => reading.skip(`byte ${offset}`, why),
    });
  }

  push(chunk: Buffer): void {
    this.#splitter.push(chunk);
  }

  end(): void {
    if (!this.#splitter.end()) this.#reading.flag("the end", "the file is cut off; what is before it was read");
    if (this.#chat === undefined) this.#reading.flag("the file", "no channel was found in it");
  }

  #onValue(path: JsonPath, json: string, where: string): void {
    const fields = parseFields(json);
    if (fields === undefined) return this.#reading.skip(where, "no JSON object");
    if (path[0] === "guild") this.#guild = fields;
    else if (path[0] === "channel") this.#onChannel(fields);
    else this.#onMessage(fields, where);
  }

  #onChannel(fields: Fields): void {
    const id = idOf(fields["id"]);
    if (id === undefined) return this.#reading.skip("the channel", "it has no id");
    const type = TYPES.get(textOf(fields["type"]) ?? "") ?? "group";
    const isPrivate = textOf(fields["type"])?.startsWith("Direct") === true;
    const name = textOf(fields["name"]);
    // Every server has a channel called general.
    const guild = isPrivate ? undefined : textOf(this.#guild["name"]);
    const full = [guild, name].filter((part) => part !== undefined).join(" #");
    this.#chat = { id, type, ...(full !== "" && { name: full }) };
    this.#reading.add({ type: "chat", chat: this.#chat });
  }

  #onMessage(fields: Fields, where: string): void {
    if (this.#chat === undefined) return this.#reading.skip(where, "a message of no channel");
    const message = toMessage(fields, this.#chat.id);
    if (typeof message === "string") return this.#reading.skip(where, message);
    this.#onAuthor(fieldsOf(fields["author"]) ?? {});
    this.#reading.add({ type: "message", message, origin: "import" });
  }

  #onAuthor(author: Fields): void {
    const id = idOf(author["id"]);
    if (id === undefined || this.#people.has(id)) return;
    this.#people.add(id);
    const username = textOf(author["name"]);
    const name = textOf(author["nickname"]) ?? username;
    const isSelf = this.#self !== undefined && (this.#self === name || this.#self === username);
    this.#reading.add({
      type: "person",
      person: {
        id,
        ...(name !== undefined && { name }),
        ...(username !== undefined && { username }),
        ...(author["isBot"] === true && { isBot: true }),
        ...(isSelf && { isSelf }),
      },
    });
  }
}
