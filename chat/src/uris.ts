// The resources' URIs: `messages://{source}/{chat}?since=7d`, `messages://{source}/*` for all chats, `chats://{source}`.

import { invalid } from "./errors.ts";
import type { SearchMode } from "./query.ts";
import type { MessageArgs } from "./reader.ts";

export type ChatUri =
  | { readonly kind: "chats"; readonly source: string }
  | {
      readonly kind: "messages";
      readonly args: MessageArgs;
      readonly page: { readonly limit: number; readonly offset?: number; readonly cursor?: string };
    };

export const MESSAGES_TEMPLATE = "messages://{source}/{chat}{?since,before,sender,search,limit,offset,cursor}";
export const CHATS_TEMPLATE = "chats://{source}";
export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 500;
export const MAX_OFFSET = 1_000_000;

const PARAMETERS = [
  "chat",
  "since",
  "before",
  "sender",
  "search",
  "mode",
  "limit",
  "offset",
  "cursor",
  "include_system",
  "allow_stale",
] as const;
type Parameter = (typeof PARAMETERS)[number];
const MODES: readonly SearchMode[] = ["words", "phrase", "prefix", "substring"];

/** Undefined for what is none of ours. Throws where a parameter is wrong. */
export function parseUri(uri: string): ChatUri | undefined {
  const match = /^(messages|chats):\/\/([^/?#]+)(?:\/([^/?#]*))?(?:\?([^#]*))?$/.exec(uri);
  if (match === null) return undefined;
  const [, scheme, rawSource = "", rawChat, query] = match;
  const source = decode(rawSource);
  if (scheme === "chats") return rawChat === undefined || rawChat === "" ? { kind: "chats", source } : undefined;
  if (rawChat === undefined || rawChat === "") return undefined;
  const given = parseQuery(query ?? "");
  const chat = rawChat === "*" ? given.get("chat") : decode(rawChat);
  if (rawChat !== "*" && given.has("chat")) throw invalid("chat", "The chat stands in the URI already");
  const mode = given.get("mode");
  const offset = given.get("offset");
  const cursor = given.get("cursor");
  return {
    kind: "messages",
    args: {
      source,
      chat,
      since: given.get("since"),
      before: given.get("before"),
      sender: given.get("sender"),
      search: given.get("search"),
      mode: mode === undefined ? undefined : parseMode(mode),
      includeSystem: parseFlag(given, "include_system"),
      allowStale: parseFlag(given, "allow_stale"),
    },
    page: {
      limit: parseCount(given.get("limit") ?? String(DEFAULT_LIMIT), "limit", 1, MAX_LIMIT),
      ...(offset === undefined ? {} : { offset: parseCount(offset, "offset", 0, MAX_OFFSET) }),
      ...(cursor === undefined ? {} : { cursor }),
    },
  };
}

/** @example chatUri("telegram", "Book club") // "messages://telegram/Book%20club" */
export function chatUri(source: string, chat: string): string {
  return `messages://${encodeURIComponent(source)}/${encodeURIComponent(chat).replaceAll("*", "%2A")}`;
}

/** The same resource, further on. */
export function nextUri(uri: string, cursor: string): string {
  const [base = "", query = ""] = uri.split("?");
  const kept = query.split("&").filter((part) => part !== "" && !/^(cursor|offset)=/.test(part));
  return `${base}?${[...kept, `cursor=${encodeURIComponent(cursor)}`].join("&")}`;
}

/** A plus is a plus: numbers begin with it. */
function parseQuery(query: string): Map<Parameter, string> {
  const given = new Map<Parameter, string>();
  for (const part of query.split("&")) {
    if (part === "") continue;
    const [rawName = "", ...value] = part.split("=");
    const name = PARAMETERS.find((known) => known === decode(rawName));
    if (name === undefined) {
      throw invalid(
        decode(rawName),
        `'${decode(rawName)}' is no parameter of a resource`,
        `Use ${PARAMETERS.join(", ")}`,
      );
    }
    if (given.has(name)) throw invalid(name, `'${name}' is given twice`);
    given.set(name, decode(value.join("=")));
  }
  return given;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid("uri", `'${text}' is not percent-encoded as it should be`);
  }
}

function parseCount(text: string, field: string, least: number, most: number): number {
  const count = Number(text);
  if (/^\d{1,9}$/.test(text) && count >= least && count <= most) return count;
  throw invalid(field, `'${text}' is not a number from ${least} to ${most}`);
}

function parseMode(text: string): SearchMode {
  const mode = MODES.find((known) => known === text);
  if (mode === undefined) throw invalid("mode", `'${text}' is no mode of search`, `Use ${MODES.join(", ")}`);
  return mode;
}

function parseFlag(given: ReadonlyMap<Parameter, string>, name: Parameter): boolean | undefined {
  const text = given.get(name);
  if (text === undefined) return undefined;
  if (text === "true" || text === "false") return text === "true";
  throw invalid(name, `'${text}' is neither true nor false`);
}
