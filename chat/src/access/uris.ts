// The resources' URIs: `messages://{source}/{chat}?since=7d`, `messages://{source}/*` for all chats, `chats://{source}`.

import { z } from "zod";
import { invalid } from "../errors.ts";
import { DEFAULT_LIMIT, URI_PARAMETERS, type MessageArgs } from "./message-filters.ts";

export type ChatUri =
  | { readonly kind: "chats"; readonly source: string }
  | {
      readonly kind: "messages";
      readonly args: MessageArgs;
      readonly page: {
        readonly limit: number;
        readonly offset?: number | undefined;
        readonly cursor?: string | undefined;
      };
    };

const PARAMETERS = Object.keys(URI_PARAMETERS);
const Query = z.object(URI_PARAMETERS);

export const MESSAGES_TEMPLATE = `messages://{source}/{chat}{?${PARAMETERS.filter((name) => name !== "chat").join(",")}}`;
export const CHATS_TEMPLATE = "chats://{source}";
export const ATTACHMENT_TEMPLATE = "attachment://{source}/{chat}/{message}/{number}";

/** Undefined if it is not such a URI. Throws if a parameter is invalid. */
export function parseUri(uri: string): ChatUri | undefined {
  const match = /^(messages|chats):\/\/([^/?#]+)(?:\/([^/?#]*))?(?:\?([^#]*))?$/.exec(uri);
  if (match === null) return undefined;
  const [, scheme, rawSource = "", rawChat, query] = match;
  const source = decode(rawSource);
  if (scheme === "chats") return rawChat === undefined || rawChat === "" ? { kind: "chats", source } : undefined;
  if (rawChat === undefined || rawChat === "") return undefined;
  const { limit = DEFAULT_LIMIT, offset, cursor, ...filters } = parseQuery(query ?? "");
  if (rawChat === "*") return { kind: "messages", args: { source, ...filters }, page: { limit, offset, cursor } };
  if (filters.chat !== undefined) throw invalid("chat", "The path of the URI already has a chat");
  const args = { ...filters, source, chat: decode(rawChat) };
  return { kind: "messages", args, page: { limit, offset, cursor } };
}

/** @example chatUri("telegram", "Book club") // "messages://telegram/Book%20club" */
export function chatUri(source: string, chat: string): string {
  return `messages://${encodeURIComponent(source)}/${encodeURIComponent(chat).replaceAll("*", "%2A")}`;
}

export interface AttachmentRef {
  readonly source: string;
  /** Id or name. */
  readonly chat: string;
  readonly message: string;
  /** Counted from 1. */
  readonly number: number;
}

export function attachmentUri({ source, chat, message, number }: AttachmentRef): string {
  return `attachment://${[source, chat, message].map(encodeURIComponent).join("/")}/${number}`;
}

/** Undefined if it is not such a URI. */
export function parseAttachmentUri(uri: string): AttachmentRef | undefined {
  const match = /^attachment:\/\/([^/?#]+)\/([^/?#]+)\/([^/?#]+)\/([1-9]\d{0,3})$/.exec(uri);
  if (match === null) return undefined;
  const [source = "", chat = "", message = ""] = match.slice(1, 4).map(decode);
  return { source, chat, message, number: Number(match[4]) };
}

/** The URI of the next page. */
export function nextUri(uri: string, cursor: string): string {
  const [base = "", query = ""] = uri.split("?");
  const others = query.split("&").filter((part) => part !== "" && !/^(cursor|offset)=/.test(part));
  return `${base}?${[...others, `cursor=${encodeURIComponent(cursor)}`].join("&")}`;
}

/** A plus is not a space here: phone numbers begin with it. */
function parseQuery(query: string): z.output<typeof Query> {
  const given = new Map<string, string>();
  for (const part of query.split("&")) {
    if (part === "") continue;
    const [rawName = "", ...value] = part.split("=");
    const name = decode(rawName);
    if (!PARAMETERS.includes(name)) {
      throw invalid(name, `Unknown parameter '${name}'`, `Use ${PARAMETERS.join(", ")}`);
    }
    if (given.has(name)) throw invalid(name, `Duplicate parameter '${name}'`);
    given.set(name, decode(value.join("=")));
  }
  const parsed = Query.safeParse(Object.fromEntries(given));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(String(issue?.path[0] ?? "uri"), issue?.message ?? "Invalid parameter");
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid("uri", `Invalid percent-encoding in '${text}'`);
  }
}
