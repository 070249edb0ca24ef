// Imports the JSON of DiscordChatExporter: one channel per file.

import type { ChatType, FileImporter, FileSigns, NativeChat } from "../../model/source.ts";
import { type Fields, fieldsOf, idOf, parseFields, textOf } from "../fields.ts";
import { ExportFiles } from "../export-files.ts";
import { type Handling, type JsonPath, JsonSplitter } from "../json-splitter.ts";
import { TRUNCATED, type ImportCollector } from "../import-collector.ts";
import { readMember, type MemberParts, type MemberReader } from "../read-member.ts";
import { toMessage } from "./message.ts";

const FORMAT = "discord-json";
/** Media folder of DiscordChatExporter. */
const MEDIA_FOLDER = /^[^/]+_Files\//;

const TYPES: ReadonlyMap<string, ChatType> = new Map<string, ChatType>([
  ["DirectTextChat", "direct"],
  ["DirectGroupTextChat", "group"],
  ["GuildNews", "channel"],
]);

export const discordImporter: FileImporter = {
  format: FORMAT,
  sourceKind: "discord",
  changes: ["edits", "reactions"],

  recognises({ head }: FileSigns): boolean {
    const text = head.toString("latin1");
    return /^(?:\u00ef\u00bb\u00bf)?\s*\{\s*"guild"\s*:\s*\{/.test(text) && /"channel"\s*:\s*\{/.test(text);
  },

  read: (file) =>
    readMember(file, {
      format: FORMAT,
      choose: (members) => members.find(({ name }) => name.endsWith(".json")) ?? members[0],
      missing: { what: "file" },
      createReader: (parts) => new ChannelReader(parts),
    }),
};

function handling(path: JsonPath): Handling {
  const spelled = path.join("/");
  if (spelled === "guild" || spelled === "channel" || spelled === "messages/[]") return "take";
  return spelled === "" || spelled === "messages" ? "enter" : "skip";
}

class ChannelReader implements MemberReader {
  readonly #collector: ImportCollector;
  readonly #files: ExportFiles;
  readonly #self: string | undefined;
  readonly #splitter: JsonSplitter;
  readonly #people = new Set<string>();
  #guild: Fields = {};
  #chat: NativeChat | undefined;

  constructor({ file, archive, member, collector, limits }: MemberParts) {
    this.#files = new ExportFiles(archive, member, { beside: MEDIA_FOLDER });
    this.#collector = collector;
    this.#self = file.self;
    this.#splitter = new JsonSplitter({
      maxBytes: limits.line_bytes,
      handling,
      onValue: (path, json, offset) => this.#onValue(path, json.toString("utf8"), `byte ${offset}`),
      onLeave: () => undefined,
      onDamage: (offset, why) => collector.skip(`byte ${offset}`, why),
    });
  }

  push(chunk: Buffer): void {
    this.#splitter.push(chunk);
  }

  end(): void {
    if (!this.#splitter.end()) this.#collector.truncated("the end", TRUNCATED);
    if (this.#chat === undefined) this.#collector.addProblem("the file", "no channel found");
  }

  #onValue(path: JsonPath, json: string, where: string): void {
    const fields = parseFields(json);
    if (fields === undefined) return this.#collector.skip(where, "not a JSON object");
    if (path[0] === "guild") this.#guild = fields;
    else if (path[0] === "channel") this.#onChannel(fields);
    else this.#onMessage(fields, where);
  }

  #onChannel(fields: Fields): void {
    const id = idOf(fields["id"]);
    if (id === undefined) return this.#collector.skip("the channel", "has no id");
    const type = TYPES.get(textOf(fields["type"]) ?? "") ?? "group";
    const isPrivate = textOf(fields["type"])?.startsWith("Direct") === true;
    const name = textOf(fields["name"]);
    // The server's name is included, since every server has a channel called general.
    const guild = isPrivate ? undefined : textOf(this.#guild["name"]);
    const full = [guild, name].filter((part) => part !== undefined).join(" #");
    this.#chat = { id, type, ...(full !== "" && { name: full }) };
    this.#collector.add({ type: "chat", chat: this.#chat });
  }

  #onMessage(fields: Fields, where: string): void {
    if (this.#chat === undefined) return this.#collector.skip(where, "a message without a channel");
    const message = toMessage(fields, this.#chat.id, this.#files);
    if (typeof message === "string") return this.#collector.skip(where, message);
    this.#onAuthor(fieldsOf(fields["author"]) ?? {});
    this.#collector.add({ type: "message", message, origin: "import" });
  }

  #onAuthor(author: Fields): void {
    const id = idOf(author["id"]);
    if (id === undefined || this.#people.has(id)) return;
    this.#people.add(id);
    const username = textOf(author["name"]);
    const name = textOf(author["nickname"]) ?? username;
    const isSelf = this.#self !== undefined && (this.#self === name || this.#self === username);
    this.#collector.add({
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
