// What the tools of a chat server answer, as far as the page shows it. The texts are strangers' input.

import { isObject, type Json, type JsonObject } from "../text/json.ts";
import type { McpClient } from "../mcp/client.ts";

export interface Source {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly status: string;
  /** Why it is not connected, and what to do about it. */
  readonly message: string | undefined;
  readonly howToConnect: string | undefined;
  readonly isLive: boolean;
  readonly chats: number;
  readonly messages: number;
  readonly oldest: string | undefined;
}

export interface Chat {
  readonly source: string;
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly messages: number;
  readonly lastAt: string | undefined;
  readonly unread: number;
  readonly awaitsReply: boolean;
}

export interface Message {
  readonly source: string;
  readonly chatId: string;
  readonly chatName: string;
  readonly id: string;
  /** Undefined: the network itself. */
  readonly sender: string | undefined;
  readonly isSelf: boolean;
  readonly text: string;
  readonly at: string;
  /** Undefined for text. */
  readonly kind: string | undefined;
  readonly editedAt: string | undefined;
  readonly replyTo: { readonly id: string; readonly sender: string | undefined; readonly preview: string } | undefined;
  readonly forwardedFrom: string | undefined;
  readonly reactions: readonly { readonly emoji: string; readonly count: number }[];
  readonly attachments: readonly { readonly kind: string; readonly name: string | undefined }[];
}

export interface MessagePage {
  readonly messages: readonly Message[];
  readonly cursor: string | undefined;
  /** The search ran out of time: there may be more. */
  readonly isUnfinished: boolean;
  /** What may be missing, in words. */
  readonly coverage: string | undefined;
}

export interface Hit {
  readonly message: Message;
  /** With the hit itself, oldest first. */
  readonly around: readonly Message[];
}

/** A tool of the chat server has refused. */
export class ChatToolError extends Error {
  readonly code: string;
  readonly hint: string | undefined;
  constructor(code: string, message: string, hint: string | undefined) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/** The structured part of a tool's answer. */
export async function callTool(
  client: McpClient,
  name: string,
  args: Readonly<Record<string, Json | undefined>>,
  signal?: AbortSignal,
): Promise<JsonObject> {
  const given: JsonObject = {};
  for (const [member, value] of Object.entries(args)) if (value !== undefined) given[member] = value;
  const result = await client.get("tools/call", { name, arguments: given }, signal === undefined ? {} : { signal });
  const structured = isObject(result["structuredContent"]) ? result["structuredContent"] : {};
  if (result["isError"] !== true) return structured;
  const error = isObject(structured["error"]) ? structured["error"] : {};
  throw new ChatToolError(
    text(error["code"]) ?? "",
    text(error["message"]) ?? firstText(result) ?? "",
    text(error["hint"]),
  );
}

export function toSources(answer: JsonObject): Source[] {
  return objects(answer["sources"]).map((source) => ({
    id: text(source["id"]) ?? "",
    name: text(source["name"]) ?? "",
    kind: text(source["kind"]) ?? "",
    status: text(source["status"]) ?? "",
    message: text(source["message"]),
    howToConnect: text(source["how_to_connect"]),
    isLive: source["live"] === true,
    chats: number(source["chat_count"]),
    messages: number(source["message_count"]),
    oldest: text(source["oldest"]),
  }));
}

export function toChats(answer: JsonObject): Chat[] {
  return objects(answer["chats"]).map((chat) => ({
    source: text(chat["source"]) ?? "",
    id: text(chat["id"]) ?? "",
    name: text(chat["name"]) ?? "",
    type: text(chat["type"]) ?? "",
    messages: number(chat["message_count"]),
    lastAt: text(chat["last_message_at"]),
    unread: number(chat["unread_count"]),
    awaitsReply: chat["awaiting_reply"] === true,
  }));
}

export function toPage(answer: JsonObject): MessagePage {
  return {
    messages: objects(answer["messages"]).map(toMessage),
    cursor: text(answer["next_cursor"]),
    isUnfinished: answer["unfinished"] === true,
    coverage: text(answer["coverage"]),
  };
}

/** The hits of a search, each with the messages around it. */
export function toHits(answer: JsonObject): Hit[] {
  const around = objects(answer["context"]);
  return objects(answer["messages"]).map((each, index) => {
    const message = toMessage(each);
    const context = around[index];
    const isSame = context?.["message_id"] === message.id && context["chat_id"] === message.chatId;
    return { message, around: isSame ? objects(context["messages"]).map(toMessage) : [message] };
  });
}

function toMessage(message: JsonObject): Message {
  const reply = message["reply_to"];
  return {
    source: text(message["source"]) ?? "",
    chatId: text(message["chat_id"]) ?? "",
    chatName: text(message["chat_name"]) ?? "",
    id: text(message["id"]) ?? "",
    sender: text(message["sender"]),
    isSelf: message["is_self"] === true,
    text: text(message["content"]) ?? "",
    at: text(message["timestamp"]) ?? "",
    kind: text(message["kind"]),
    editedAt: text(message["edited_at"]),
    replyTo: isObject(reply)
      ? { id: text(reply["id"]) ?? "", sender: text(reply["sender"]), preview: text(reply["preview"]) ?? "" }
      : undefined,
    forwardedFrom: text(message["forwarded_from"]),
    reactions: objects(message["reactions"]).map((reaction) => ({
      emoji: text(reaction["emoji"]) ?? "",
      count: number(reaction["count"]),
    })),
    attachments: objects(message["attachments"]).map((attachment) => ({
      kind: text(attachment["kind"]) ?? "",
      name: text(attachment["name"]),
    })),
  };
}

function firstText(result: JsonObject): string | undefined {
  return objects(result["content"])
    .map((block) => text(block["text"]))
    .find((found) => found !== undefined);
}

function objects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((item) => isObject(item)) : [];
}

function text(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function number(value: Json | undefined): number {
  return typeof value === "number" ? value : 0;
}
