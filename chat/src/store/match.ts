// The language of the search index. Whatever a user types is quoted, so it is never more than words.

import type { SearchMode } from "../query.ts";
import { hasWords, toSearchText } from "./search-text.ts";

/** By keys of the store; absent where it does not matter. */
export interface Scope {
  readonly sources?: readonly number[] | undefined;
  readonly chats?: readonly number[] | undefined;
  readonly senders?: readonly number[] | undefined;
}

/** What a message's row in the index says of where it belongs. */
export function toScopeText(chat: number, source: number, sender: number | null): string {
  return sender === null ? `c${chat} x${source}` : `c${chat} x${source} s${sender}`;
}

/** The words of a search as an expression; undefined where there is not one word in it. */
export function matchText(text: string, mode: Exclude<SearchMode, "substring">): string | undefined {
  const parts = mode === "phrase" ? [text] : text.split(/\s+/u);
  const words = parts.map(toSearchText).filter(hasWords);
  if (words.length === 0) return undefined;
  return words.map((word) => (mode === "prefix" ? `${quote(word)} *` : quote(word))).join(" AND ");
}

export function matchScope({ sources, chats, senders }: Scope): string | undefined {
  const parts = [anyOf("x", sources), anyOf("c", chats), anyOf("s", senders)].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join(" AND ");
}

export function matchAll(
  words: string | undefined,
  scope: string | undefined,
  withNotices: boolean,
): string | undefined {
  if (words === undefined) return scope;
  const inColumns = `${withNotices ? "{content notice}" : "content"} : (${words})`;
  return scope === undefined ? inColumns : `${inColumns} AND ${scope}`;
}

function anyOf(letter: string, keys: readonly number[] | undefined): string | undefined {
  if (keys === undefined) return undefined;
  return `scope : (${keys.map((key) => `"${letter}${key}"`).join(" OR ")})`;
}

function quote(words: string): string {
  return `"${words.replaceAll("\0", " ").replaceAll('"', '""')}"`;
}
