// Telegram Desktop's `result.json`: one chat, or the whole account. Read as a stream, since files of several GB occur.

import type { FileImporter, FileSigns, ImportFile, ImportReport, NativePerson, SourceEvent } from "../../source.ts";
import { openArchive, type Member } from "../archive.ts";
import { ChatError } from "../../errors.ts";
import { type Fields, fieldsOf, idOf, textOf } from "../fields.ts";
import { Reading } from "../reading.ts";
import type { Zone } from "../../zone.ts";
import { zoneOf } from "../wall-clock.ts";
import { toMessage } from "./message.ts";
import { CHAT_KINDS, type ChatHead, DELETED_ACCOUNT, peerId, toChat } from "./peers.ts";
import { parseJson } from "./repair.ts";
import { type Handling, type JsonPath, JsonSplitter } from "../json-splitter.ts";

const FORMAT = "telegram-json";
const FILE_NAME = "result.json";
/** A message has 4,096 characters; forwarded polls and reactions of a large channel have more. */
const MAX_MESSAGE_BYTES = 8_000_000;

const SIGNS = [
  new RegExp(`"type"\\s*:\\s*"(?:${CHAT_KINDS.join("|")})"`),
  /"(?:personal_information|left_chats|frequent_contacts)"\s*:/,
  /"chats"\s*:\s*\{/,
];

export const telegramImporter: FileImporter = {
  format: FORMAT,
  sourceKind: "telegram",
  tells: ["edits", "reactions"],

  recognises({ head, names }: FileSigns): boolean {
    const text = head.toString("latin1");
    if (text === "" || text.startsWith("PK")) return names.some(isResult);
    return /^(?:\u00ef\u00bb\u00bf)?\s*\{/.test(text) && SIGNS.some((sign) => sign.test(text));
  },

  async *read(file: ImportFile): AsyncGenerator<readonly SourceEvent[], ImportReport> {
    const archive = await openArchive(file.path);
    try {
      const member = archive.members.find(({ name }) => isResult(name)) ?? archive.members[0];
      if (member === undefined) throw nothingIn(file.path);
      return yield* readMember(member, file);
    } finally {
      archive.close();
    }
  },
};

function isResult(name: string): boolean {
  return name === FILE_NAME || name.endsWith(`/${FILE_NAME}`);
}

async function* readMember(member: Member, file: ImportFile): AsyncGenerator<readonly SourceEvent[], ImportReport> {
  const reading = new Reading();
  const account = new AccountReader(reading, zoneOf(file.timeZone), file.self);
  let bytes = 0;
  for await (const chunk of member.chunks(reading.reader(file.signal))) {
    account.push(chunk);
    bytes += chunk.length;
    yield* reading.take();
    file.onProgress?.({ bytes, totalBytes: member.sizeBytes, messages: reading.messages });
  }
  account.end();
  yield* reading.take({ all: true });
  return reading.report(FORMAT);
}

function nothingIn(path: string): ChatError {
  return new ChatError("IMPORT_FAILED", `${path} has no ${FILE_NAME}`, {
    field: "path",
    hint: "Export in Telegram Desktop as machine-readable JSON, and name the folder or its result.json",
  });
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
  /** What was known when its first message came. */
  readonly head: ChatHead;
  /** The other one, where it is a chat of two. */
  readonly partner: string | undefined;
}

/** Puts the values of the file together to chats, people and messages. */
class AccountReader {
  readonly #reading: Reading;
  readonly #zone: Zone;
  readonly #selfName: string | undefined;
  readonly #splitter: JsonSplitter;
  /** By id: what was said of them last. */
  readonly #people = new Map<string, string>();
  #selfId: string | undefined;
  #head: ChatHead = {};
  /** Of the chat whose messages are being read. */
  #chat: OpenChat | undefined;
  #previousAt: number | undefined;
  #hasChat = false;

  constructor(reading: Reading, zone: Zone, selfName: string | undefined) {
    this.#reading = reading;
    this.#zone = zone;
    this.#selfName = selfName;
    this.#splitter = new JsonSplitter({
      maxBytes: MAX_MESSAGE_BYTES,
      handling,
      onValue: (path, json, offset) => this.#onValue(path, json, offset),
      onLeave: (path) => this.#onLeave(path),
      onDamage: (offset, why) => reading.skip(`byte ${offset}`, why),
    });
  }

  push(chunk: Buffer): void {
    this.#splitter.push(chunk);
  }

  end(): void {
    if (!this.#splitter.end()) {
      this.#leaveChat();
      this.#reading.flag("the end", "the file is cut off; what is before it was read");
    }
    if (!this.#hasChat) this.#reading.flag("the file", "no chat was found in it");
  }

  #onValue(path: JsonPath, json: Buffer, offset: number): void {
    const text = json.toString("utf8");
    let value: unknown;
    try {
      value = parseJson(text);
    } catch {
      // The parser's words would quote the message.
      return this.#reading.skip(`byte ${offset}`, "no JSON");
    }
    if (text.includes("\ufffd"))
      this.#reading.flag(`byte ${offset}`, "characters that are no UTF-8, or were lost before");
    const last = path.at(-1) ?? "";
    if (CHAT_FIELDS.includes(last)) this.#head = { ...this.#head, [last]: value };
    else this.#onObject(path, fieldsOf(value), offset);
  }

  #onObject(path: JsonPath, fields: Fields | undefined, offset: number): void {
    if (fields === undefined) return this.#reading.skip(`byte ${offset}`, "no object");
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
    if (chat === undefined) return this.#reading.skip(`byte ${offset}`, "a message of a chat without an id");
    const message = toMessage(fields, { chat: chat.id, zone: this.#zone, previousAt: this.#previousAt });
    if (typeof message === "string") return this.#reading.skip(`byte ${offset}`, message);
    this.#previousAt = message.at;
    this.#onPeer(fields["from_id"], fields["from"]);
    this.#onPeer(fields["actor_id"], fields["actor"]);
    this.#reading.add({ type: "message", message, origin: "import" });
  }

  #enterChat(): OpenChat | undefined {
    const head = this.#head;
    const chat = toChat(head);
    if (chat === undefined) return undefined;
    this.#hasChat = true;
    this.#reading.add({ type: "chat", chat });
    // One's own notes, and what others wrote to oneself, tell who oneself is.
    if (chat.type === "self") this.#selfId ??= chat.id;
    return { id: chat.id, head, partner: chat.type === "direct" || chat.type === "bot" ? chat.id : undefined };
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
    this.#reading.add({
      type: "person",
      person: { ...person, ...(this.#isSelf(person) && { isSelf: true }), ...(this.#isBot(person) && { isBot: true }) },
    });
  }

  #isSelf({ id, name }: NativePerson): boolean {
    if (this.#selfId !== undefined) return id === this.#selfId;
    if (this.#selfName !== undefined) return name === this.#selfName;
    // A chat of two: who is not the other.
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
    // What stands behind the messages is told now: where a tool has sorted the keys, name and type do.
    if (chat !== undefined && open?.head !== this.#head) {
      this.#hasChat = true;
      this.#reading.add({ type: "chat", chat: { ...chat, id: open?.id ?? chat.id } });
    }
    this.#head = {};
    this.#chat = undefined;
    this.#previousAt = undefined;
  }
}
