// Turns the filters that a client gave into a filter of the store, within what agents may see.

import { invalid } from "../errors.ts";
import { noFieldsLeft } from "@plugboard/shared/fields";
import type { CursorState } from "../model/cursor.ts";
import type { MessageFilter, StoredChat } from "../model/store-port.ts";
import { parseTime } from "../model/times.ts";
import type { MessageArgs } from "./message-filters.ts";
import type { Reader } from "./reader.ts";

export interface Selection {
  /** Undefined if nothing can match. */
  readonly filter: MessageFilter | undefined;
  /** If a chat was named: that chat, or the first of several with one person. */
  readonly chat: StoredChat | undefined;
  /** All chats that the name means; empty if none was named. */
  readonly chats: readonly StoredChat[];
  /** Sources that are answered from stored messages, or left out without `allow_stale`. */
  readonly notConnected: readonly string[];
  readonly newestChat: number | undefined;
}

/** `state` is that of the page's cursor: what was resolved for the first page stays the same. */
export function selectMessages(
  reader: Reader,
  args: MessageArgs,
  state?: Pick<CursorState, "since" | "before" | "newestChat">,
): Selection {
  const { source, chat: name, since: sinceText, before: beforeText, sender, search, mode, ...others } = args;
  const { include_system: includeSystem = false, allow_stale: allowStale = false, ...rest } = others;
  noFieldsLeft(rest);
  const named = name === undefined ? [] : findNamedChats(reader, { source, name, allowStale });
  const { sources, notConnected } = selectSources(reader, { source, named, allowStale });
  const { chats, newestChat } = selectChats(reader, { sources, named, newestChat: state?.newestChat });
  const { since, before } = state ?? parseBounds(reader, sinceText, beforeText);
  const filter: MessageFilter = {
    sources,
    includeSystem,
    ...(chats === undefined ? {} : { chats }),
    ...(since === undefined ? {} : { since }),
    ...(before === undefined ? {} : { before }),
    ...(sender === undefined ? {} : { sender }),
    ...(search === undefined ? {} : { search, mode: mode ?? "contains" }),
  };
  const isEmpty = sources.length === 0 || chats?.length === 0;
  return { filter: isEmpty ? undefined : filter, chat: named[0], chats: named, notConnected, newestChat };
}

function findNamedChats(
  reader: Reader,
  { source, name, allowStale }: { source: string | undefined; name: string; allowStale: boolean },
): readonly StoredChat[] {
  if (source !== undefined) reader.source(source, allowStale);
  const chats = reader.conversation(source, name);
  // If the chats are of several sources, one connected source is enough.
  const isConnected = chats.some((chat) => !("message" in reader.sources.state(chat.source)));
  if (!isConnected) reader.source(chats[0].source, allowStale);
  return chats;
}

function selectSources(
  reader: Reader,
  { source, named, allowStale }: { source: string | undefined; named: readonly StoredChat[]; allowStale: boolean },
): { readonly sources: readonly string[]; readonly notConnected: readonly string[] } {
  let all: readonly string[] = [...new Set(named.map((chat) => chat.source))];
  if (named.length === 0) {
    all = source === undefined ? reader.sources.ids : [reader.source(source, allowStale).source.id];
  }
  const notConnected = all.filter((id) => "message" in reader.sources.state(id));
  const isStaleAllowed = allowStale || reader.policy.allowStale;
  return { sources: isStaleAllowed ? all : all.filter((id) => !notConnected.includes(id)), notConnected };
}

/** Chats are undefined if all of the sources' chats are shown. Chats that appear after the first page are left out. */
function selectChats(
  reader: Reader,
  {
    sources,
    named,
    newestChat,
  }: { sources: readonly string[]; named: readonly StoredChat[]; newestChat: number | undefined },
): { readonly chats: readonly number[] | undefined; readonly newestChat: number | undefined } {
  const { visibility } = reader.policy;
  if (named.length === 0 && !visibility.restricts(sources)) return { chats: undefined, newestChat: undefined };
  const chats = named.length > 0 ? named : sources.flatMap((source) => [...visibility.chats(reader.store, source)]);
  const keys = chats.map(({ key }) => key);
  const newest = newestChat ?? keys.reduce((most, key) => Math.max(most, key), 0);
  return { chats: keys.filter((key) => key <= newest), newestChat: newest };
}

function parseBounds(
  reader: Reader,
  sinceText: string | undefined,
  beforeText: string | undefined,
): { readonly since: number | undefined; readonly before: number | undefined } {
  const given = sinceText === undefined ? undefined : parseTime(sinceText, "since", reader.clock);
  const before = beforeText === undefined ? undefined : parseTime(beforeText, "before", reader.clock);
  const { oldestShown } = reader;
  const since = oldestShown === undefined ? given : Math.max(oldestShown, given ?? oldestShown);
  if (given !== undefined && since !== undefined && before !== undefined && since >= before) {
    throw invalid("before", "'before' must be later than 'since'");
  }
  return { since, before };
}
