// A page of messages. Older messages that are missing for it are fetched first, if the network has them.

import { isSearch, type MessageArgs } from "../access/message-filters.ts";
import { findMessages, type MessagePage, type PageArgs } from "../access/message-pages.ts";
import type { Reader } from "../access/reader.ts";
import { BEGINNING, END, type Range, type Span } from "../model/unfetched.ts";
import type { Coverage, FetchOptions, History } from "./history.ts";

export interface CoveredPage extends MessagePage {
  /** Messages that may be missing from the page, if older ones were not fetched. */
  readonly coverage?: string;
}

export interface Readers {
  readonly reader: Reader;
  readonly history: History;
}

export async function readMessages(
  { reader, history }: Readers,
  args: MessageArgs,
  given: PageArgs,
  options: FetchOptions,
): Promise<CoveredPage> {
  const page = { ...given, signal: options.signal };
  let answer = await findMessages(reader, args, page);
  // Stored messages come first; older ones belong to later pages.
  if (answer.unfinished) return answer;
  const { chat } = answer.selection;
  if (chat === undefined) return withCoverage(answer, coverageOfSources({ reader, history }, args, answer));
  if (!history.canFetch(chat.source)) return answer;
  // A search without a time could fetch the whole chat.
  if (isSearch(args) && args.since === undefined && args.before === undefined) {
    const missing = history.missing(chat, neededFor(answer, page));
    return withCoverage(answer, missing === undefined ? undefined : coverageOfSearch(reader, missing));
  }
  let isFirst = true;
  const need = async (): Promise<Range> => {
    if (!isFirst) answer = await findMessages(reader, args, page);
    isFirst = false;
    return neededFor(answer, page);
  };
  const coverage = await history.fill(chat, need, options);
  return withCoverage(answer, describeCoverage(reader, coverage));
}

/** The time range that must be stored for this answer to be complete. */
function neededFor({ messages, nextCursor, selection }: MessagePage, { order }: PageArgs): Range {
  const { since, before } = selection.filter ?? {};
  const last = nextCursor === undefined ? undefined : messages.at(-1)?.at;
  if (order === "asc") return { since, before: last === undefined ? before : last + 1 };
  return { since: last ?? since, before };
}

/** Undefined if nothing is missing. */
export function describeCoverage(reader: Reader, coverage: Coverage): string | undefined {
  if (coverage.status === "complete") return undefined;
  const span = describeSpan(reader, coverage.missing);
  return coverage.status === "failed"
    ? `Older messages could not be fetched: ${reader.presenter.text(coverage.message)}. Missing: ${span}`
    : `Not everything is fetched yet; missing: ${span}. Repeat the request to continue`;
}

function coverageOfSearch(reader: Reader, missing: Span): string {
  return `Searched in stored messages only, not in ${describeSpan(reader, missing)}. Give since or before to fetch older messages`;
}

/** For many chats nothing is fetched: it could be the whole account. */
function coverageOfSources({ reader, history }: Readers, args: MessageArgs, answer: MessagePage): string | undefined {
  if (answer.nextCursor !== undefined && args.search === undefined) return undefined;
  const sources = answer.selection.filter?.sources ?? [];
  const incomplete = sources.filter((id) => history.canFetch(id) && reader.store.hasUnfetched(id));
  if (incomplete.length === 0) return undefined;
  return (
    `Only stored messages of ${incomplete.join(", ")} were searched. Older messages are fetched for one chat at a time: ` +
    "give chat, and since or before"
  );
}

function describeSpan({ presenter }: Reader, { from, to }: Span): string {
  if (from === BEGINNING) return to === END ? "all messages" : `messages before ${presenter.time(to)}`;
  return `messages between ${presenter.time(from)} and ${presenter.time(to)}`;
}

function withCoverage(answer: MessagePage, coverage: string | undefined): CoveredPage {
  return coverage === undefined ? answer : { ...answer, coverage };
}
