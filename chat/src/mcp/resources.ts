// Chats and messages as resources: lists, templates, and reading one by its URI.

import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
} from "@modelcontextprotocol/server";
import { ChatError } from "../errors.ts";
import { cleanName } from "../lines.ts";
import type { Reader } from "../reader.ts";
import { toText } from "../tools/parameters.ts";
import { CHATS_TEMPLATE, chatUri, MAX_LIMIT, MESSAGES_TEMPLATE, nextUri, parseUri, type ChatUri } from "../uris.ts";

const PAGE = 50;
const MAX_CHARS = 200_000;
/** What a line has beside the content, roughly. */
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
        "source. since and before: ISO 8601, a date, or a span back (24h, 7d, 2w, 3mo). limit (1-500) counts back from the " +
        "newest; offset skips so many; cursor continues a page.",
      mimeType: MIME,
    },
    {
      name: "chats",
      title: "Chats of a source",
      uriTemplate: CHATS_TEMPLATE,
      description: "The chats of a source, the most recent first, one on each line.",
      mimeType: MIME,
    },
  ],
};

/** The recent chats. The first page begins with the sources themselves. */
export function listResources(reader: Reader, cursor: string | undefined): ListResourcesResult {
  const { outgoing, sources } = reader;
  const page = reader.chats({ limit: PAGE, cursor, allowStale: true });
  const wholes =
    cursor === undefined
      ? sources.all.flatMap(({ source: { id, name } }) => [
          { uri: `chats://${id}`, name: `${cleanName(name)}: chats`, mimeType: MIME },
          { uri: `messages://${id}/*`, name: `${cleanName(name)}: all messages`, mimeType: MIME },
        ])
      : [];
  const chats = page.items.map((chat) => {
    const { id, source, name, type, last_message_at: last } = outgoing.chat(chat);
    return {
      uri: chatUri(source, id),
      name: name === "" ? id : name,
      description: `${type} in ${source}${last === null ? "" : `, last message ${last}`}`,
      mimeType: MIME,
    };
  });
  return {
    resources: [...wholes, ...chats],
    ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }),
  };
}

export function readResource(reader: Reader, uri: string): ReadResourceResult {
  const parsed = parseUri(uri);
  if (parsed === undefined) {
    throw new ChatError("CHAT_NOT_FOUND", `There is no resource '${uri}'`, {
      field: "uri",
      hint: "Use messages://{source}/{chat}, messages://{source}/* or chats://{source}",
    });
  }
  return parsed.kind === "chats" ? readChats(reader, uri, parsed.source) : readMessages(reader, uri, parsed);
}

function readMessages(reader: Reader, uri: string, { args, page }: ChatUri & { kind: "messages" }): ReadResourceResult {
  const { messages, nextCursor, selection } = reader.messages(args, {
    ...page,
    budget: { chars: MAX_CHARS, cost: ({ content }) => content.length + HEAD_CHARS },
  });
  const text = toText(reader, messages, { withChat: selection.chat === undefined, maxChars: MAX_CHARS });
  const next = nextCursor === undefined ? undefined : nextUri(uri, nextCursor);
  return {
    contents: [
      {
        uri,
        mimeType: MIME,
        text,
        ...(next === undefined
          ? {}
          : { _meta: { "plugboard-chat/next_cursor": nextCursor, "plugboard-chat/next_uri": next } }),
      },
    ],
  };
}

function readChats(reader: Reader, uri: string, source: string): ReadResourceResult {
  const { items } = reader.chats({ source, limit: MAX_LIMIT });
  const lines = items.map((stored) => {
    const chat = reader.outgoing.chat(stored);
    const people = chat.participant_count === null ? "" : `, ${chat.participant_count} participants`;
    const last = chat.last_message_at ?? "no messages";
    return `[${last}] ${chat.name} (${chat.type}${people}, id ${chat.id}): ${chatUri(source, chat.id)}\n`;
  });
  return { contents: [{ uri, mimeType: MIME, text: lines.join("") }] };
}
