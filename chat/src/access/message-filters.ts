// The filters of messages, defined once. The parameters of tools and of resource URIs, the URI template and the fingerprint of
// cursors are derived from these tables; message-selection.ts applies the filters. A filter that is added here and forgotten
// elsewhere does not compile, or fails message-filters.test.ts.

import { z } from "zod";
import { SEARCH_MODES } from "../model/store-port.ts";

const TIME = "ISO 8601, a date, a span back from now (30min, 24h, 7d, 2w, 3mo, 1y), today or yesterday";

export const SOURCE = z.string().min(1).describe("id of a source, from list_sources");
export const CHAT = z
  .union([z.string().min(1), z.int()])
  .transform(String)
  .describe("id or name of a chat, from list_chats; a person's name means all private chats with them");
export const ALLOW_STALE = z.boolean().describe("answer from stored messages if the source is not connected");

export const MODES =
  "contains (all of the words, also inside longer words), words (all of them as whole words, in any order), phrase (whole " +
  "words, in this order), prefix (words that begin so), substring (the exact text, spaces and punctuation included). Case and " +
  "accents are ignored";

/** As parameters of a tool. */
export const MESSAGE_FILTERS = {
  source: SOURCE.optional(),
  chat: CHAT.optional(),
  since: z.string().optional().describe(`only messages from then on: ${TIME}`),
  before: z.string().optional().describe(`only messages before then: ${TIME}`),
  sender: z.string().min(1).optional().describe("only from this person: name, number, username or id"),
  search: z.string().min(1).optional().describe("only messages with this text"),
  mode: z.enum(SEARCH_MODES).optional().describe(`how search is matched; contains if absent: ${MODES}`),
  include_system: z.boolean().optional().describe("also messages of the network itself, such as who joined"),
  allow_stale: ALLOW_STALE.optional(),
};

const Filters = z.object(MESSAGE_FILTERS);
export const FILTER_NAMES = Filters.keyof().options;
export type FilterName = (typeof FILTER_NAMES)[number];

/** Filters as a client gave them: times and names are not resolved yet. */
export type MessageArgs = Readonly<z.output<typeof Filters>>;

interface FilterRule {
  /** A cursor is refused if this filter has another value than on the first page. */
  readonly bindsCursor: boolean;
  /** Excludes single messages within a chat and time span, so older messages may match even if a page has no hits. */
  readonly isSearch: boolean;
}

const RULES: Readonly<Record<FilterName, FilterRule>> = {
  source: { bindsCursor: true, isSearch: false },
  chat: { bindsCursor: true, isSearch: false },
  since: { bindsCursor: true, isSearch: false },
  before: { bindsCursor: true, isSearch: false },
  sender: { bindsCursor: true, isSearch: true },
  search: { bindsCursor: true, isSearch: true },
  mode: { bindsCursor: true, isSearch: false },
  include_system: { bindsCursor: true, isSearch: false },
  // A source may lose its connection between two pages.
  allow_stale: { bindsCursor: false, isSearch: false },
};

/** The values that must be the same on every page. */
export function cursorFingerprint(args: MessageArgs): readonly unknown[] {
  return FILTER_NAMES.filter((name) => RULES[name].bindsCursor).map((name) => args[name] ?? null);
}

export function isSearch(args: MessageArgs): boolean {
  return FILTER_NAMES.some((name) => RULES[name].isSearch && args[name] !== undefined);
}

export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 500;
export const MAX_OFFSET = 1_000_000;

const Flag = z
  .enum(["true", "false"], { error: ({ input }) => `'${String(input)}' is neither true nor false` })
  .transform((text) => text === "true");

const count = (least: number, most: number) =>
  z
    .string()
    .refine((text) => /^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most, {
      error: ({ input }) => `'${String(input)}' is not a number from ${least} to ${most}`,
    })
    .transform(Number);

/** The same filters, and the page, as parameters of a resource URI. The source is in its path, and so is the chat unless it is `*`. */
export const URI_PARAMETERS = {
  chat: z.string().optional(),
  since: z.string().optional(),
  before: z.string().optional(),
  sender: z.string().optional(),
  search: z.string().optional(),
  mode: z
    .enum(SEARCH_MODES, {
      error: ({ input }) => `'${String(input)}' is not a search mode: use ${SEARCH_MODES.join(", ")}`,
    })
    .optional(),
  include_system: Flag.optional(),
  allow_stale: Flag.optional(),
  limit: count(1, MAX_LIMIT).optional(),
  offset: count(0, MAX_OFFSET).optional(),
  cursor: z.string().optional(),
} satisfies Record<Exclude<FilterName, "source"> | "limit" | "offset" | "cursor", z.ZodType>;
