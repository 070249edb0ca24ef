// Chats and messages as resources: lists, templates, and reading one by its URI.

import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
} from "@modelcontextprotocol/server";
import { readAttachment } from "../access/attachments.ts";
import { MAX_LIMIT } from "../access/message-filters.ts";
import { ChatError } from "../errors.ts";
import { cleanName } from "../model/lines.ts";
import { readMessages } from "../history/read-messages.ts";
import { SEARCH_MODES, type StoredMessage } from "../model/store-port.ts";
import type { Reader } from "../access/reader.ts";
import { describeState } from "../tools/list-chats.ts";
import { toConversation } from "../tools/parameters.ts";
import { fetchOptions, type ToolContext } from "../tools/tool.ts";
import {
  ATTACHMENT_TEMPLATE,
  CHATS_TEMPLATE,
  chatUri,
  MESSAGES_TEMPLATE,
  nextUri,
  parseAttachmentUri,
  parseUri,
  type AttachmentRef,
  type ChatUri,
} from "../access/uris.ts";

const PAGE = 50;
const MAX_CHARS = 200_000;
/** Approximate length of a line without its content. */
const HEAD_CHARS = 50;
const MIME = "text/plain; charset=utf-8";

export const TEMPLATES: ListResourceTemplatesResult = {
  resourceTemplates: [
    {
      name: "messages",
      title: "Messages of a chat",
      uriTemplate: MESSAGES_TEMPLATE,
      description:
        "Messages as lines `[timestamp] sender: content`, oldest first. chat is an id or a name, or * for all chats of the " +
        "source. since and before: ISO 8601, a date, or a span back (24h, 7d, 2w, 3mo). search: text that a message contains, " +
        `also inside longer words; mode: ${SEARCH_MODES.join(", ")}. limit (1-500) counts back from the newest; ` +
        "offset skips messages; cursor continues a page.",
      mimeType: MIME,
    },
    {
      name: "chats",
      title: "Chats of a source",
      uriTemplate: CHATS_TEMPLATE,
      description: "The chats of a source, most recent first, one per line.",
      mimeType: MIME,
    },
    {
      name: "attachment",
      title: "Attachment of a message",
      uriTemplate: ATTACHMENT_TEMPLATE,
      description: "A photo, voice message or file of a message, by chat and message id; number is 1 for the first.",
    },
  ],
};

/** Recent chats. The first page begins with the sources. */
export function listResources(reader: Reader, cursor: string | undefined): ListResourcesResult {
  const { presenter, sources } = reader;
  const page = reader.chats({ limit: PAGE, cursor, allowStale: true });
  const sourceResources =
    cursor === undefined
      ? sources.all.flatMap(({ source: { id, name } }) => [
          { uri: `chats://${id}`, name: `${cleanName(name)}: chats`, mimeType: MIME },
          { uri: `messages://${id}/*`, name: `${cleanName(name)}: all messages`, mimeType: MIME },
        ])
      : [];
  const chats = page.items.map((chat) => {
    const [id, name] = [presenter.chatId(chat), presenter.name(chat.name)];
    const last = chat.newestAt === null ? "" : `, last message ${presenter.time(chat.newestAt)}`;
    return {
      uri: chatUri(chat.source, id),
      name: name === "" ? id : name,
      description: `${chat.type} in ${chat.source}${last}`,
      mimeType: MIME,
    };
  });
  return {
    resources: [...sourceResources, ...chats],
    ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }),
  };
}

export async function readResource(context: ToolContext, uri: string): Promise<ReadResourceResult> {
  const attachment = parseAttachmentUri(uri);
  if (attachment !== undefined) return await readFile(context, uri, attachment);
  const parsed = parseUri(uri);
  if (parsed === undefined) {
    throw new ChatError("CHAT_NOT_FOUND", `Unknown resource '${uri}'`, {
      field: "uri",
      hint: "Use messages://{source}/{chat}, messages://{source}/*, chats://{source} or attachment://{source}/{chat}/{message}/{number}",
    });
  }
  return parsed.kind === "chats"
    ? readChats(context.app.reader, uri, parsed.source)
    : await readLines(context, uri, parsed);
}

async function readFile({ app, signal }: ToolContext, uri: string, ref: AttachmentRef): Promise<ReadResourceResult> {
  const { mime: mimeType, content } = await readAttachment(app.reader, ref, signal);
  return {
    contents: ["text" in content ? { uri, mimeType, text: content.text } : { uri, mimeType, blob: content.base64 }],
  };
}

async function readLines(
  context: ToolContext,
  uri: string,
  { args, page }: ChatUri & { kind: "messages" },
): Promise<ReadResourceResult> {
  const { reader } = context.app;
  const budget = { chars: MAX_CHARS, cost: ({ content }: StoredMessage) => content.length + HEAD_CHARS };
  const answer = await readMessages(context.app, args, { ...page, budget }, fetchOptions(context));
  const { messages, nextCursor, unfinished, selection, coverage } = answer;
  const text = toConversation(reader, messages, { withChat: selection.chat === undefined, maxChars: MAX_CHARS });
  const next = nextCursor === undefined ? undefined : nextUri(uri, nextCursor);
  const note = unfinished ? `(The search is not finished, and there may be more matches. Continue with ${next})\n` : "";
  const meta = {
    ...(next === undefined ? {} : { "plugboard-chat/next_cursor": nextCursor, "plugboard-chat/next_uri": next }),
    ...(unfinished ? { "plugboard-chat/unfinished": true } : {}),
    ...(coverage === undefined ? {} : { "plugboard-chat/coverage": coverage }),
  };
  const content = { uri, mimeType: MIME, text: `${text}${note}` };
  return { contents: [{ ...content, ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }) }] };
}

function readChats(reader: Reader, uri: string, source: string): ReadResourceResult {
  const { items } = reader.chats({ source, limit: MAX_LIMIT });
  const lines = items.map((stored) => {
    const chat = reader.describe(stored);
    const last = chat.last_message_at ?? "no messages";
    return `[${last}] ${chat.name} (${[chat.type, ...describeState(chat)].join(", ")}, id ${chat.id}): ${chatUri(chat.source, chat.id)}\n`;
  });
  return { contents: [{ uri, mimeType: MIME, text: lines.join("") }] };
}
