// The list of all tools. Add a new tool here.

import type { SourceView } from "../sources/sources.ts";
import { findContact } from "./find-contact.ts";
import { getAttachment } from "./get-attachment.ts";
import { getMessageContext } from "./get-message-context.ts";
import { getMessages } from "./get-messages.ts";
import { getThread } from "./get-thread.ts";
import { listChats } from "./list-chats.ts";
import { listSources } from "./list-sources.ts";
import { searchMessages } from "./search-messages.ts";
import { sendMessage } from "./send-message.ts";
import type { Tool } from "./tool.ts";
import { waitForMessages } from "./wait-for-messages.ts";

const READING_TOOLS: readonly Tool[] = [
  listSources,
  listChats,
  getMessages,
  searchMessages,
  getMessageContext,
  getThread,
  getAttachment,
  findContact,
  waitForMessages,
];

/** Includes `send_message` only if the user has allowed it for a source. */
export function toolsFor(sources: Pick<SourceView, "all">): readonly Tool[] {
  return sources.all.some(({ source, send }) => send !== undefined && source.capabilities.send)
    ? [...READING_TOOLS, sendMessage]
    : READING_TOOLS;
}
