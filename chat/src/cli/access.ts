// `plugboard-chat access`: shows and changes what agents may see and write to, in chat.json. There is no MCP tool for it: an
// agent must not be able to change its own access.

import type { Command } from "commander";
import type { App } from "../app.ts";
import { nearNames } from "@plugboard/shared/near-names";
import { ACCESS_LEVELS, accessOf, withAccess, type AccessLevel } from "../access/chat-access.ts";
import { changeConfig, readConfig, type SourceInput } from "../config/file.ts";
import type { ChatConfigFile } from "../config/schema.ts";
import { ChatError, chatNotFound, invalid } from "../errors.ts";
import { cleanName } from "../model/lines.ts";
import type { StoredChat } from "../model/store-port.ts";
import { REDACTION_KINDS, type RedactionKind } from "../redaction/redactor.ts";
import { toPolicy } from "../access/policy.ts";
import type { Context, Io } from "./io.ts";
import { table } from "./table.ts";
import { withApp } from "./with-app.ts";

interface AccessOptions {
  readonly redact?: string;
  readonly json?: boolean;
}

const PAGE = 500;
/** Hidden and writable chats that are shown; an allow list may hide very many. */
const MAX_SHOWN = 2000;
const MAX_NEAR_NAMES = 3;
const NONE = "none";

export function accessCommand(program: Command, { io }: Context): void {
  program
    .command("access [source] [chat] [level]")
    .description(`what agents may do: show it, or make a chat ${ACCESS_LEVELS.join(", ")}`)
    .option("--redact <kinds>", `what is hidden in all messages: ${REDACTION_KINDS.join(",")}, or ${NONE}`)
    .option("--json", "machine-readable output")
    .action(
      async (
        source: string | undefined,
        chat: string | undefined,
        level: string | undefined,
        options: AccessOptions,
      ): Promise<void> => {
        await withApp(io, async (app) => {
          if (source !== undefined) await setAccess(app, { source, chat, level: toLevel(level) });
          if (options.redact !== undefined) await setRedaction(app, toKinds(options.redact));
          const shown = describeAccess(app, await readConfig(app.home));
          if (options.json === true) io.stdout.write(`${JSON.stringify(shown, undefined, 2)}\n`);
          else print(io, shown);
        });
      },
    );
}

async function setAccess(
  app: App,
  { source: id, chat: name, level }: { source: string; chat: string | undefined; level: AccessLevel },
): Promise<void> {
  const { source } = app.sources.get(id);
  if (name === undefined) throw invalid("chat", "The chat is missing", "Give its id or exact name");
  const chat = findChat(app, source.id, name);
  const isSendable = source.capabilities.send && (source.sendsTo?.(chat.id) ?? true);
  if (level === "writable" && !isSendable) {
    throw invalid("level", `Nothing can be sent to chat '${chat.name}' of source '${source.id}'`);
  }
  const others = [...chatsOf(app, source.id)].filter(({ key }) => key !== chat.key);
  await changeConfig(app.home, (written) => {
    const entry: SourceInput = written.sources?.[source.id] ?? { kind: source.kind };
    return { ...written, sources: { ...written.sources, [source.id]: withAccess(entry, level, { chat, others }) } };
  });
}

async function setRedaction(app: App, kinds: readonly RedactionKind[]): Promise<void> {
  await changeConfig(app.home, ({ redact, ...written }) => {
    const patterns = redact?.patterns ?? [];
    if (kinds.length === 0 && patterns.length === 0) return written;
    return { ...written, redact: { kinds: [...kinds], ...(patterns.length === 0 ? {} : { patterns }) } };
  });
}

/** Hidden chats are found too. */
function findChat({ store }: App, source: string, name: string): StoredChat {
  const key = /^chat-(\d{1,15})$/.exec(name)?.[1];
  const byKey = key === undefined ? undefined : store.chatByKey(Number(key));
  const [found, ...others] = store.findChats(source, name);
  if (found === undefined && byKey?.source === source) return byKey;
  if (found === undefined) {
    const names = [...chatsOf({ store }, source)].map((chat) => chat.name);
    throw chatNotFound(name, source, nearNames(name, names, MAX_NEAR_NAMES));
  }
  if (others.length === 0) return found;
  throw new ChatError("AMBIGUOUS_CHAT", `'${name}' is the name of ${others.length + 1} chats`, {
    field: "chat",
    hint: "Use the id of one of them",
    candidates: [found, ...others].map((chat) => `${chat.id} (${chat.name})`),
  });
}

function* chatsOf({ store }: Pick<App, "store">, source: string): Generator<StoredChat> {
  let cursor: string | undefined;
  do {
    const page = store.chats({ source, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
    yield* page.items;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}

interface ShownChat {
  readonly source: string;
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly message_count: number;
  readonly access: AccessLevel;
}

type Access = ReturnType<typeof describeAccess>;

/** For the user, who may see what is hidden from agents. Chats that agents can only read are left out. */
function describeAccess(app: App, config: ChatConfigFile) {
  const { visibility, presenter } = toPolicy(config, Date.now);
  const chats: ShownChat[] = [];
  let isCut = false;
  const sources = app.sources.all.map(({ source }) => {
    const { id } = source;
    const entry = config.sources[id];
    const canSend = source.capabilities.send;
    for (const chat of chatsOf(app, id)) {
      const access = accessOf(chat, { isShown: visibility.shows(chat), canSend, send: entry?.send });
      if (access === "readable") continue;
      if (chats.length >= MAX_SHOWN) {
        isCut = true;
        break;
      }
      chats.push({
        source: id,
        // As the tools name it, which replace an id that contains something redacted.
        id: presenter.chatId(chat),
        name: cleanName(chat.name),
        type: chat.type,
        message_count: chat.messageCount,
        access,
      });
    }
    return {
      id,
      kind: source.kind,
      can_send: canSend,
      only_allowed: entry?.chats.allow !== undefined,
      asks: entry?.send?.others === "ask",
    };
  });
  return {
    config: app.home.config,
    redact: config.redact?.kinds ?? [],
    patterns: config.redact?.patterns.length ?? 0,
    max_age: config.max_age ?? null,
    sources,
    chats,
    more: isCut,
  };
}

function print(io: Io, { config, redact, patterns, max_age: maxAge, sources, chats, more }: Access): void {
  const rows = chats.map(({ source, id, name, type, access }) => [source, id, name, type, access]);
  io.stdout.write(table(rows, io.stdout.isTTY === true ? io.stdout.columns : undefined));
  const onlyAllowed = sources.filter((source) => source.only_allowed).map(({ id }) => id);
  const notes = [
    more ? `Only the first ${MAX_SHOWN} are shown` : "All other chats are readable",
    ...(onlyAllowed.length === 0 ? [] : [`New chats of ${onlyAllowed.join(", ")} are hidden`]),
    ...(maxAge === null ? [] : [`Messages older than ${maxAge} are hidden`]),
    `Redacted: ${[...redact, ...(patterns === 0 ? [] : [`${patterns} own patterns`])].join(", ") || NONE}`,
    `Set in ${config}`,
  ];
  io.stdout.write(`${notes.join("\n")}\n`);
}

function toLevel(text: string | undefined): AccessLevel {
  const level = ACCESS_LEVELS.find((known) => known === text);
  if (level !== undefined) return level;
  throw invalid("level", `Unknown access '${text ?? ""}'`, `Use ${ACCESS_LEVELS.join(", ")}`);
}

function toKinds(text: string): readonly RedactionKind[] {
  if (text === NONE) return [];
  return text.split(",").map((word) => {
    const kind = REDACTION_KINDS.find((known) => known === word.trim());
    if (kind !== undefined) return kind;
    throw invalid("redact", `Unknown kind '${word}'`, `Use ${REDACTION_KINDS.join(",")}, or ${NONE}`);
  });
}
