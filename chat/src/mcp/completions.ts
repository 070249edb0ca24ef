// Argument completion: sources, and the chats of a source.

import type { CompleteRequestParams, CompleteResult } from "@modelcontextprotocol/server";
import type { Reader } from "../access/reader.ts";

const MAX = 100;

export function complete(reader: Reader, { argument, context }: CompleteRequestParams): CompleteResult {
  const values = valuesFor(reader, argument.name, argument.value, context?.arguments?.["source"]);
  return { completion: { values: values.slice(0, MAX), hasMore: values.length > MAX } };
}

function valuesFor(reader: Reader, name: string, typed: string, source: string | undefined): string[] {
  if (name === "source") return reader.sources.ids.filter((id) => id.toLowerCase().startsWith(typed.toLowerCase()));
  if (name !== "chat") return [];
  const { items } = reader.chats({
    limit: MAX + 1,
    allowStale: true,
    ...(source === undefined || !reader.sources.ids.includes(source) ? {} : { source }),
    ...(typed === "" ? {} : { namePattern: typed }),
  });
  return [...new Set(items.map((chat) => reader.presenter.name(chat.name)).filter((chat) => chat !== ""))];
}
