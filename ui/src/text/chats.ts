// Text of the Chats page.

import { count, plural } from "../lib/text/format.ts";

export const chatsText = {
  title: "Chats",
  heading: (messages: number, chats: number) =>
    messages === 0 ? "No messages yet" : `${plural(messages, "message")} in ${plural(chats, "chat")}`,
  server: "Chat server",
  noServer:
    "Agents can read your chats, from export files and live networks. That needs the chat server, which is not set up yet.",
  noServerHint:
    "Messages stay on this machine. Agents can only read, and only what you do not hide, until you allow more.",
  addServer: "Add the chat server",
  notRunning: (name: string) => `${name} is not running`,
  start: "Start it",

  sources: "Sources",
  noSources: "The chat server has no messages yet.",
  sourceMessages: (messages: number, chats: number) =>
    messages === 0 ? "no messages" : `${plural(messages, "message")} in ${plural(chats, "chat")}`,
  sinceYear: (year: number) => `since ${year}`,
  imported: "imported",
  status: {
    connected: "live",
    connecting: "connecting",
    disconnected: "not connected",
    needs_auth: "needs a login",
    error: "error",
  } as Readonly<Record<string, string>>,

  list: "Chats",
  filter: "Filter chats",
  allSources: "all sources",
  source: "Source",
  found: (shown: number, isCut: boolean) =>
    isCut ? `The ${count(shown)} most recent; filter for others` : plural(shown, "chat"),
  noChats: "No chat has this name.",
  choose: "Choose a chat, or search all messages.",
  back: "All chats",
  backToHits: "Back to what was found",
  unread: (n: number) => `${count(n)} unread`,
  awaitsReply: "awaits a reply",
  types: { direct: "direct", group: "group", channel: "channel", self: "notes to self", bot: "bot" } as Readonly<
    Record<string, string>
  >,

  access: "Agents may",
  levels: { hidden: "see nothing of it", readable: "read it", writable: "read it and write to it" } as const,
  hidden: "hidden from agents",
  writable: "agents may write",
  isHidden: "Hidden from agents. This page reads as they do, so its messages are not shown here either.",
  accessChanged: (name: string, level: "hidden" | "readable" | "writable") =>
    ({
      hidden: `Agents do not see ${name} any more`,
      readable: `Agents may read ${name}`,
      writable: `Agents may read ${name} and write to it`,
    })[level],
  onlyAllowed: (source: string) => `Of ${source}, agents see only the chats that you allow.`,
  notAdministered: "What agents may see cannot be changed here.",
  policy: "What agents get…",
  policyTitle: "What agents get",
  redact: "Replaced by a tag such as [phone-1] in everything that agents get:",
  redactKinds: {
    phone: "phone numbers",
    email: "e-mail addresses",
    card: "card numbers",
    iban: "bank accounts (IBAN)",
    code: "one-time codes",
  } as const,
  patterns: (n: number) => `and what ${plural(n, "pattern")} of your own match`,
  maxAge: (age: string) => `Messages older than ${age} are hidden.`,
  hiddenCount: (n: number, hasMore: boolean) =>
    n === 0 ? "No chat is hidden." : `${hasMore ? "More than " : ""}${plural(n, "chat")} hidden.`,
  configFile: "All of it is in this file, where you can set more:",
  agentsCannot: "Agents cannot change it: they have no tool for that.",

  messages: (chat: string) => `Messages of ${chat}`,
  olderReading: "Reading older messages…",
  noOlder: "No older messages are stored.",
  noMessages: "No messages are stored.",
  noSuchMessage: "The message is not stored any more, or hidden. These are the newest ones.",
  newest: "Go to the newest",
  network: "network",
  you: "you",
  edited: "edited",
  forwarded: (from: string) => `forwarded from ${from}`,
  replyTo: (sender: string | undefined) => (sender === undefined ? "reply to" : `reply to ${sender}`),
  linkTo: (clock: string) => `Link to this message, ${clock}`,
  attachment: (kind: string, name: string | undefined) => (name === undefined ? kind : `${kind} ${name}`),

  reads: "What agents read",
  today: "today",
  week: "last 7 days",
  allCalls: "All calls",
  noSingleChat: "all chats",
  did: ({ reads, searches, sent }: { readonly reads: number; readonly searches: number; readonly sent: number }) =>
    [
      ...(reads > 0 ? [plural(reads, "read")] : []),
      ...(searches > 0 ? [plural(searches, "search", "searches")] : []),
      ...(sent > 0 ? [`${count(sent)} sent`] : []),
    ].join(", "),
  noReads: "No agent has read messages in this time.",
  onlyNewest: (n: number) => `Counted from the newest ${count(n)} calls.`,

  search: "Search messages",
  searchHere: "Search all messages",
  mode: "How words match",
  modes: {
    words: "all words",
    phrase: "exact phrase",
    prefix: "beginnings of words",
    contains: "parts of words",
  } as Readonly<Record<string, string>>,
  sender: "From",
  senderHint: "name or number",
  since: "Time",
  times: { "": "any time", "7d": "last 7 days", "30d": "last 30 days", "1y": "last year" } as Readonly<
    Record<string, string>
  >,
  hits: (n: number, hasMore: boolean) =>
    n === 0 ? "Nothing found" : hasMore ? `The newest ${plural(n, "hit")}` : plural(n, "hit"),
  unfinished: "The search takes long: there may be more.",
  moreHits: "More hits",
  clearSearch: "Clear the search",
};
