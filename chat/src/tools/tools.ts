// All tools. A new one is a new file and a word below.

import type { Sources } from "../sources/sources.ts";
import { findContact } from "./find-contact.ts";
import { getMessageContext } from "./get-message-context.ts";
import { getMessages } from "./get-messages.ts";
import { getThread } from "./get-thread.ts";
import { listChats } from "./list-chats.ts";
import { listSources } from "./list-sources.ts";
import { searchMessages } from "./search-messages.ts";
import { sendMessage } from "./send-message.ts";
import type { Tool } from "./tool.ts";
import { waitForMessages } from "./wait-for-messages.ts";

const READING: readonly Tool[] = [
  listSources,
  listChats,
  getMessages,
  searchMessages,
  getMessageContext,
  getThread,
  findContact,
  waitForMessages,
];

/** Writing is there only where the user has named the chats for it. */
export function toolsFor(sources: Sources): readonly Tool[] {
  return sources.all.some(({ source, sendTo }) => sendTo !== undefined && source.capabilities.send)
    ? [...READING, sendMessage]
    : READING;
}
