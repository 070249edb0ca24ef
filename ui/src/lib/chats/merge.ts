// Pages of one conversation put together: each message once, oldest first.

import type { Message } from "./answers.ts";

export const keyOf = ({ source, chatId, id }: Pick<Message, "source" | "chatId" | "id">): string =>
  JSON.stringify([source, chatId, id]);

/** A message that is in both is taken from `page`, which is newer: it may have been edited. Both are oldest first. */
export function withPage(known: readonly Message[], page: readonly Message[], place: "before" | "after"): Message[] {
  const fresh = new Map(page.map((message) => [keyOf(message), message]));
  const kept = known.map((message) => {
    const key = keyOf(message);
    const replaced = fresh.get(key) ?? message;
    fresh.delete(key);
    return replaced;
  });
  return place === "before" ? [...fresh.values(), ...kept] : [...kept, ...fresh.values()];
}
