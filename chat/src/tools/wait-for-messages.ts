// `wait_for_messages`: new messages for clients that act on no notification. Returns as soon as there are some.

import { z } from "zod";
import { invalid } from "../errors.ts";
import { openLiveCursor, sealLiveCursor, type LiveCursor } from "../live/live-cursor.ts";
import { requireStream } from "../live/subscriptions.ts";
import { findNews, MAX_TOLD } from "../live/watch.ts";
import type { StoredMessage } from "../query.ts";
import type { MessageArgs } from "../reader.ts";
import { MessageShape } from "../shapes.ts";
import { parseUri } from "../uris.ts";
import { Chat, Source, toJsonMessages, toText } from "./parameters.ts";
import { tool, type ToolContext } from "./tool.ts";

const MAX_CONTENT = 10_000;
/** Clocks differ, and messages take their time: what was written so shortly before the cursor counts as new. */
const SLACK_MS = 600_000;

export const waitForMessages = tool({
  name: "wait_for_messages",
  title: "Wait for new messages",
  description:
    "Waits until new messages arrive, for timeout_s at most, and returns them, oldest first, with a cursor. Give that as " +
    "after_cursor in the next call and none is missed in between. Filter by source, chat, sender and words, or by a uri such " +
    'as "messages://telegram/*?search=invoice". Works with live sources only.',
  input: z.strictObject({
    uri: z.string().optional(),
    source: Source.optional(),
    chat: Chat.optional(),
    sender: z.string().min(1).optional(),
    search: z.string().min(1).optional(),
    after_cursor: z.string().optional(),
    timeout_s: z.number().min(0).max(50).default(30),
  }),
  output: z.object({
    messages: z.array(MessageShape),
    cursor: z.string().describe("after_cursor of the next call"),
    timed_out: z.boolean().describe("true where nothing came in time"),
  }),
  run: async ({ uri, after_cursor: cursor, timeout_s: timeoutS, ...given }, context) => {
    const { reader } = context.app;
    const args = uri === undefined ? given : fromUri(uri, given);
    requireStream(reader, args.source);
    const from =
      cursor === undefined ? { key: reader.store.newestKey(), at: reader.clock.now() } : openLiveCursor(cursor);
    reader.select({ ...args, allowStale: true }); // says at once what is wrong
    const { messages, key } = await untilSome(args, from, timeoutS * 1000, context);
    const next = messages.length === 0 ? { key, at: from.at } : { key, at: reader.clock.now() };
    return {
      structured: {
        messages: toJsonMessages(reader, messages, MAX_CONTENT),
        cursor: sealLiveCursor(next),
        timed_out: messages.length === 0,
      },
      text: [
        messages.length === 0
          ? "(nothing new)"
          : toText(reader, messages, { withChat: true, maxChars: MAX_CONTENT }).trimEnd(),
        `cursor: ${sealLiveCursor(next)}`,
      ].join("\n"),
    };
  },
});

function fromUri(uri: string, given: Readonly<Record<string, unknown>>): MessageArgs {
  const parsed = parseUri(uri);
  if (parsed?.kind !== "messages") {
    throw invalid(
      "uri",
      `'${uri}' is no resource of messages`,
      "Use messages://{source}/{chat} or messages://{source}/*",
    );
  }
  const [twice] = Object.keys(given);
  if (twice !== undefined) throw invalid(twice, `'${twice}' stands in the uri, or beside it: not both`);
  return parsed.args;
}

/** What it has when the time is over, the client leaves or the server is told to stop. */
async function untilSome(
  args: MessageArgs,
  from: LiveCursor,
  timeoutMs: number,
  { app: { reader, feed, requests }, signal }: ToolContext,
): Promise<{ readonly messages: readonly StoredMessage[]; readonly key: number }> {
  const look = (after: number) => {
    const { filter } = reader.select({ ...args, allowStale: true });
    return findNews({ store: reader.store, feed, filter, after, since: from.at - SLACK_MS });
  };
  let found = look(from.key);
  if (found.messages.length === 0 && timeoutMs > 0) {
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(), timeoutMs);
    const ends = AbortSignal.any([signal, requests.closing, over.signal]);
    try {
      while (found.messages.length === 0 && !ends.aborted) {
        await feed.next(ends);
        found = look(found.key);
      }
    } finally {
      clearTimeout(timer);
    }
  }
  const told = found.messages.slice(0, MAX_TOLD);
  // The rest is for the next call.
  return { messages: told, key: told.length < found.messages.length ? (told.at(-1)?.key ?? found.key) : found.key };
}
