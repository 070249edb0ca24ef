// Imports Telegram Desktop's `result.json`: one chat or the whole account. Streamed, since files of several GB occur.

import type { FileImporter, FileSigns, NativeChat, NativePerson } from "../../model/source.ts";
import { type Fields, fieldsOf, idOf, textOf } from "../fields.ts";
import { ExportFiles } from "../export-files.ts";
import { TRUNCATED, type ImportCollector } from "../import-collector.ts";
import { readMember, type MemberParts, type MemberReader } from "../read-member.ts";
import type { Zone } from "../../model/zone.ts";
import { zoneOf } from "../wall-clock.ts";
import { toMessage } from "./message.ts";
import { CHAT_KINDS, type ChatHead, DELETED_ACCOUNT, numberingOf, peerId, sameChats, toChat } from "./peers.ts";
import { parseLenientJson } from "./lenient-json.ts";
import { type Handling, type JsonPath, JsonSplitter } from "../json-splitter.ts";

const FORMAT = "telegram-json";
const FILE_NAME = "result.json";
/** Media folders of Telegram Desktop. */
const MEDIA_FOLDERS =
  /^(?:chats|photos|files|video_files|voice_messages|round_video_messages|stickers|profile_pictures|stories)\//;

const SIGNS = [
  new RegExp(`"type"\\s*:\\s*"(?:${CHAT_KINDS.join("|")})"`),
  /"(?:personal_information|left_chats|frequent_contacts)"\s*:/,
  /"chats"\s*:\s*\{/,
];

export const telegramImporter: FileImporter = {
  format: FORMAT,
  sourceKind: "telegram",
  changes: ["edits", "reactions"],

  recognises({ head, names }: FileSigns): boolean {
    const text = head.toString("latin1");
    if (text === "" || text.startsWith("PK")) return names.some(isResult);
    return /^(?:\u00ef\u00bb\u00bf)?\s*\{/.test(text) && SIGNS.some((sign) => sign.test(text));
  },

  read: (file) =>
    readMember(file, {
      format: FORMAT,
      choose: (members) => members.find(({ name }) => isResult(name)) ?? members[0],
      missing: {
        what: FILE_NAME,
        hint: "Export in Telegram Desktop as machine-readable JSON. Give the folder or its result.json",
      },
      createReader: (parts) => new AccountReader(parts),
    }),
};

function isResult(name: string): boolean {
  return name === FILE_NAME || name.endsWith(`/${FILE_NAME}`);
}

const CHAT = "(?:(?:left_)?chats/list/\\[\\]/)?";
const TAKEN = new RegExp(
  `^(?:personal_information|contacts/list/\\[\\]|${CHAT}(?:name|type|id)|${CHAT}messages/\\[\\])$`,
);
const ENTERED = new RegExp(`^(?:|contacts(?:/list)?|(?:left_)?chats(?:/list(?:/\\[\\])?)?|${CHAT}messages)$`);
const CHAT_FIELDS: readonly string[] = ["id", "name", "type"] satisfies (keyof ChatHead)[];

function handling(path: JsonPath): Handling {
  const spelled = path.join("/");
  if (TAKEN.test(spelled)) return "take";
  return ENTERED.test(spelled) ? "enter" : "skip";
}

interface OpenChat {
  readonly id: string;
  /** The fields read before its first message. */
  readonly head: ChatHead;
  /** The other person of a direct chat. */
  readonly partner: string | undefined;
  readonly numberedBy: string | undefined;
  /** Direct chat: whether the ids used by other sources have been emitted. */
  isLinked: boolean;
}

/** Assembles chats, people and messages from the values of the file. */
class AccountReader implements MemberReader {
  readonly #collector: ImportCollector;
  readonly #zone: Zone;
  readonly #files: ExportFiles;
  readonly #selfName: string | undefined;
  readonly #splitter: JsonSplitter;
  /** Last known name by id. */
  readonly #people = new Map<string, string>();
  #selfId: string | undefined;
  #head: ChatHead = {};
  /** The chat whose messages are being read. */
  #chat: OpenChat | undefined;
  #previousAt: number | undefined;
  #hasChat = false;
  /** Exports before 2022 contain local times only. */
  #hasWallTimes = false;

  constructor({ file, archive, member, collector, limits }: MemberParts) {
    this.#files = new ExportFiles(archive, member, { beside: MEDIA_FOLDERS });
    this.#collector = collector;
    this.#zone = zoneOf(file.timeZone);
    this.#selfName = file.self;
    this.#splitter = new JsonSplitter({
      maxBytes: limits.line_bytes,
      handling,
      onValue: (path, json, offset) => this.#onValue(path, json, offset),
      onLeave: (path) => this.#onLeave(path),
      onDamage: (offset, why) => collector.skip(`byte ${offset}`, why),
    });
  }

  push(chunk: Buffer): void {
    this.#splitter.push(chunk);
  }

  end(): void {
    if (!this.#splitter.end()) {
      this.#leaveChat();
      this.#collector.truncated("the end", TRUNCATED);
    }
    if (this.#hasWallTimes) this.#collector.note(`Times are read as ${this.#zone.name}: the file has no time zone.`);
    if (!this.#hasChat) this.#collector.addProblem("the file", "no chat found");
  }

  #onValue(path: JsonPath, json: Buffer, offset: number): void {
    const text = json.toString("utf8");
    let value: unknown;
    try {
      value = parseLenientJson(text);
    } catch {
      // The error of JSON.parse would quote the message.
      return this.#collector.skip(`byte ${offset}`, "not JSON");
    }
    if (text.includes("\ufffd"))
      this.#collector.addProblem(`byte ${offset}`, "invalid UTF-8 or replacement characters");
    const last = path.at(-1) ?? "";
    if (CHAT_FIELDS.includes(last)) this.#head = { ...this.#head, [last]: value };
    else this.#onObject(path, fieldsOf(value), offset);
  }

  #onObject(path: JsonPath, fields: Fields | undefined, offset: number): void {
    if (fields === undefined) return this.#collector.skip(`byte ${offset}`, "not an object");
    if (path[0] === "personal_information") this.#onSelf(fields);
    else if (path[0] === "contacts") this.#onContact(fields);
    else this.#onMessage(fields, offset);
  }

  #onSelf(fields: Fields): void {
    this.#selfId = idOf(fields["user_id"]);
    this.#onContact(fields);
  }

  #onContact(fields: Fields): void {
    const id = idOf(fields["user_id"]);
    if (id === undefined) return;
    const name = [fields["first_name"], fields["last_name"]].map(textOf).filter(Boolean).join(" ");
    const phone = textOf(fields["phone_number"]);
    const username = textOf(fields["username"])?.replace(/^@/, "");
    this.#person({
      id,
      ...(name !== "" && { name }),
      ...(phone !== undefined && { phone }),
      ...(username !== undefined && { username }),
    });
  }

  #onMessage(fields: Fields, offset: number): void {
    const chat = (this.#chat ??= this.#enterChat());
    if (chat === undefined) return this.#collector.skip(`byte ${offset}`, "a message in a chat without an id");
    const { id, numberedBy } = chat;
    const message = toMessage(fields, {
      chat: id,
      numberedBy,
      zone: this.#zone,
      files: this.#files,
      previousAt: this.#previousAt,
    });
    if (typeof message === "string") return this.#collector.skip(`byte ${offset}`, message);
    if (fields["date_unixtime"] === undefined && fields["date"] !== undefined) this.#hasWallTimes = true;
    this.#previousAt = message.at;
    this.#onPeer(fields["from_id"], fields["from"]);
    this.#onPeer(fields["actor_id"], fields["actor"]);
    if (!chat.isLinked && message.sender !== undefined && message.sender !== chat.partner)
      this.#link(chat, message.sender);
    this.#collector.add({ type: "message", message, origin: "import" });
  }

  #enterChat(): OpenChat | undefined {
    const head = this.#head;
    const chat = toChat(head);
    if (chat === undefined) return undefined;
    this.#hasChat = true;
    const partner = chat.type === "direct" || chat.type === "bot" ? chat.id : undefined;
    const isLinked = partner === undefined || this.#selfId !== undefined;
    this.#collector.add({ type: "chat", chat: isLinked ? this.#withOthers(chat) : chat });
    // The id of Saved Messages is the user's own.
    if (chat.type === "self") this.#selfId ??= chat.id;
    return { id: chat.id, head, partner, numberedBy: numberingOf(head), isLinked };
  }

  /** In an export of one chat, the sender who is not the partner owns the account. */
  #link(open: OpenChat, owner: string): void {
    open.isLinked = true;
    const chat = toChat(open.head);
    if (chat !== undefined)
      this.#collector.add({ type: "chat", chat: { id: open.id, sameAs: sameChats(chat, owner) } });
  }

  #withOthers(chat: NativeChat): NativeChat {
    const others = [...(chat.sameAs ?? []), ...(this.#selfId === undefined ? [] : sameChats(chat, this.#selfId))];
    return others.length === 0 ? chat : { ...chat, sameAs: others };
  }

  #onPeer(spelled: unknown, name: unknown): void {
    if (spelled === undefined) return;
    const id = idOf(spelled);
    if (id !== undefined) this.#person({ id: peerId(id), name: textOf(name) ?? DELETED_ACCOUNT });
  }

  #person(person: NativePerson): void {
    const known = this.#people.get(person.id);
    if (known !== undefined && known === (person.name ?? known)) return;
    this.#people.set(person.id, person.name ?? "");
    this.#collector.add({
      type: "person",
      person: { ...person, ...(this.#isSelf(person) && { isSelf: true }), ...(this.#isBot(person) && { isBot: true }) },
    });
  }

  #isSelf({ id, name }: NativePerson): boolean {
    if (this.#selfId !== undefined) return id === this.#selfId;
    if (this.#selfName !== undefined) return name === this.#selfName;
    // Direct chat: the sender who is not the partner.
    return this.#chat?.partner !== undefined && this.#chat.partner !== id;
  }

  #isBot({ id }: NativePerson): boolean {
    return this.#head.type === "bot_chat" && this.#chat?.partner === id;
  }

  #onLeave(path: JsonPath): void {
    const isAccount = this.#head.id === undefined && path.length === 0;
    if (path.length === 0 ? !isAccount : path.at(-1) === "[]") this.#leaveChat();
  }

  #leaveChat(): void {
    const open = this.#chat;
    const chat = toChat(this.#head);
    // Emit fields found after the messages: tools that sort keys put name and type there.
    if (chat !== undefined && open?.head !== this.#head) {
      this.#hasChat = true;
      const { sameAs: _, ...plain } = chat;
      const isSame = open === undefined || open.id === chat.id;
      this.#collector.add({ type: "chat", chat: isSame ? this.#withOthers(chat) : { ...plain, id: open.id } });
    }
    this.#head = {};
    this.#chat = undefined;
    this.#previousAt = undefined;
  }
}
