// The message store: one SQLite file, which several processes may have open.

import type { Database } from "@plugboard/shared/sqlite/driver";
import { z } from "zod";
import type { ChatStore } from "../model/store-port.ts";
import { applyEvents } from "./write/apply.ts";
import { readChatState } from "./read/chat-state.ts";
import { findChatByKey, findChats, findPrivateChats, listChats, sourceGaps, sourceTotals } from "./read/chats.ts";
import { commit, openStoreFile, type StoreOptions } from "./database.ts";
import { expireMessages } from "./write/expiry.ts";
import { toCriteria } from "./read/message-filter.ts";
import { findAfter, findAround, findThread } from "./read/message-finder.ts";
import { pageMessages } from "./read/message-pages.ts";
import { readMessages } from "./read/message-reader.ts";
import { addPageRequest, answerPageRequest, openPageRequests, pageRequestOutcome } from "./page-requests.ts";
import { findParticipants, findPeople } from "./read/people.ts";
import { anyUnfetched, readUnfetched, writeUnfetched } from "./unfetched.ts";

const CHECKPOINT = z.record(z.string(), z.string());

/** @example const store = await openStore("/data/chat.db"); or `:memory:` */
export async function openStore(path: string, options: StoreOptions = {}): Promise<ChatStore> {
  const db = await openStoreFile(path, options);
  const write = <T>(work: () => T): T => commit(db, work);
  const oneMessage = (key: unknown) => (key === undefined ? undefined : readMessages(db, [Number(key)])[0]);
  return {
    apply: (source, events) =>
      events.length === 0 ? { liveKeys: [], messagesAdded: 0 } : write(() => applyEvents(db, source, events)),
    checkpoint: (source) => readCheckpoint(db, source),
    expire: (now) => expireMessages(db, now, write),
    close: () => db.close(),

    totals: (source) => sourceTotals(db, source),
    gaps: (source, limit) => sourceGaps(db, source, limit),

    unfetched: (chat) => readUnfetched(db, chat),
    changeUnfetched: (chat, change) => write(() => writeUnfetched(db, chat, change(readUnfetched(db, chat)))),
    hasUnfetched: (source) => anyUnfetched(db, source),
    requestPage: (request, now) => write(() => addPageRequest(db, request, now)),
    pageRequests: () => openPageRequests(db),
    answerPage: (key, outcome) => write(() => answerPageRequest(db, key, outcome)),
    pageOutcome: (key) => pageRequestOutcome(db, key),

    chatByKey: (key) => findChatByKey(db, key),
    newestChat: () => db.number("SELECT max(key) FROM chat"),
    chats: (query) => listChats(db, query),
    findChats: (source, idOrName) => findChats(db, source, idOrName),
    privateChats: (source, person) => findPrivateChats(db, source, person),
    chatState: (chat, since) => readChatState(db, chat, since),
    participants: (chat, limit) => findParticipants(db, chat, limit),
    people: (text, limit) => findPeople(db, text, limit),

    messages: (query) => pageMessages(db, query),
    message: (chat, id) => oneMessage(db.get(MESSAGE_KEY, chat, id)?.["key"]),
    messageByKey: (key) => oneMessage(key),
    around: (message, before, after) => readMessages(db, findAround(db, message.key, before, after)),
    thread: (message, limit) => readMessages(db, findThread(db, message.key, limit)),
    after: (key, filter, limit) => {
      const criteria = toCriteria(db, filter);
      return criteria === undefined ? [] : readMessages(db, findAfter(db, key, criteria, limit));
    },
    newestKey: () => db.number("SELECT max(key) FROM message"),
  };
}

/** A message may be known by two ids. */
const MESSAGE_KEY = `SELECT key FROM message WHERE chat = ?1
  AND id = coalesce((SELECT message FROM twin WHERE chat = ?1 AND id = ?2), ?2)`;

function readCheckpoint(db: Database, source: string): Readonly<Record<string, string>> {
  const json = db.get("SELECT checkpoint FROM source WHERE id = ?", source)?.["checkpoint"];
  return typeof json === "string" ? CHECKPOINT.parse(JSON.parse(json)) : {};
}
