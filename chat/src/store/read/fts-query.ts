// Expressions for the FTS5 index. Every user input is quoted, so that it can only be words, never syntax.

import { hasWords, toSearchText } from "./search-text.ts";

/** Keys of the store; absent: no restriction. */
export interface Scope {
  readonly sources?: readonly number[] | undefined;
  readonly chats?: readonly number[] | undefined;
  readonly senders?: readonly number[] | undefined;
}

/** The content of a message's `scope` column in the index. */
export function toScopeText(chat: number, source: number, sender: number | null): string {
  return sender === null ? `c${chat} x${source}` : `c${chat} x${source} s${sender}`;
}

/** Undefined if the text has no word. */
export function matchText(text: string, mode: "words" | "phrase" | "prefix"): string | undefined {
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
  includeSystem: boolean,
): string | undefined {
  if (words === undefined) return scope;
  const inColumns = `${includeSystem ? "{content notice}" : "content"} : (${words})`;
  return scope === undefined ? inColumns : `${inColumns} AND ${scope}`;
}

function anyOf(letter: string, keys: readonly number[] | undefined): string | undefined {
  if (keys === undefined) return undefined;
  return `scope : (${keys.map((key) => `"${letter}${key}"`).join(" OR ")})`;
}

function quote(words: string): string {
  return `"${words.replaceAll("\0", " ").replaceAll('"', '""')}"`;
}
