// What agents did with the chats, from the recorded calls: by client and chat. Only arguments are looked at, no answers.

import type { CallSummary } from "$api/call.ts";

/** The calls of this interface. */
const OWN_CLIENT = "ui";
const SEARCH_TOOLS = new Set(["search_messages", "find_contact"]);
const LIST_TOOLS = new Set(["list_sources", "list_chats"]);
const SEND_TOOL = "send_message";

export interface Reads {
  readonly client: string;
  /** As the agent named it; undefined: no single chat. */
  readonly chat: string | undefined;
  readonly reads: number;
  readonly searches: number;
  readonly sent: number;
  readonly lastAt: string;
}

/** Newest first, as are the calls. Lists of chats are not counted: they show no messages. */
export function readsOf(
  calls: readonly Pick<CallSummary, "client" | "tool_name" | "preview" | "timestamp" | "outcome">[],
): Reads[] {
  const groups = new Map<string, Reads>();
  for (const { client, tool_name: tool, preview, timestamp, outcome } of calls) {
    if (client === OWN_CLIENT || LIST_TOOLS.has(tool) || outcome !== "ok") continue;
    const chat = argumentOf(preview, "chat");
    const key = JSON.stringify([client, chat]);
    const known = groups.get(key) ?? { client: client ?? "", chat, reads: 0, searches: 0, sent: 0, lastAt: timestamp };
    const counted = tool === SEND_TOOL ? "sent" : SEARCH_TOOLS.has(tool) ? "searches" : "reads";
    groups.set(key, { ...known, [counted]: known[counted] + 1 });
  }
  return [...groups.values()];
}

const MEMBER = /(\w+)=("(?:[^"\\]|\\.)*"|[^\s"]+)(?: |$)/gy;

/** A member of a preview such as `source="net" chat="Family"`. Members after one that is cut or nested are not found. */
function argumentOf(preview: string, name: string): string | undefined {
  for (const [, member, value = ""] of preview.matchAll(MEMBER)) {
    if (member === name) return value.startsWith('"') ? String(JSON.parse(value)) : value;
  }
  return undefined;
}
