// `wait_for_messages`: new messages for clients that do not react to notifications. Returns as soon as there are some.

import { z } from "zod";
import { MESSAGE_FILTERS, type MessageArgs } from "../access/message-filters.ts";
import { selectMessages } from "../access/message-selection.ts";
import { parseUri } from "../access/uris.ts";
import { invalid } from "../errors.ts";
import { decodeLiveCursor, encodeLiveCursor, type LiveCursor } from "../live/live-cursor.ts";
import { requireStream } from "../live/subscriptions.ts";
import { findLiveMessages, MAX_BATCH } from "../live/watch.ts";
import { MessageShape } from "../model/shapes.ts";
import type { StoredMessage } from "../model/store-port.ts";
import { toAnswer, toJsonMessages } from "./parameters.ts";
import { tool, type ToolContext } from "./tool.ts";

const MAX_CONTENT = 10_000;
/** Clocks differ and messages arrive late: one that was written up to this long before the cursor counts as new. */
const SLACK_MS = 600_000;

export const waitForMessages = tool({
  name: "wait_for_messages",
  title: "Wait for new messages",
  description:
    "Waits until new messages arrive, for timeout_s at most, and returns them, oldest first, with a cursor. Pass the cursor as " +
    "after_cursor of the next call, so that no message is missed in between. Filter by source, chat, sender and text, or by a " +
    'uri such as "messages://telegram/*?search=invoice". Works with live sources only.',
  input: z.strictObject({
    uri: z.string().optional(),
    // New messages have no time range, and whether the source is connected does not matter.
    ...z.object(MESSAGE_FILTERS).omit({ since: true, before: true, allow_stale: true }).shape,
    after_cursor: z.string().optional(),
    timeout_s: z.number().min(0).max(50).default(30),
  }),
  output: z.object({
    messages: z.array(MessageShape),
    cursor: z.string().describe("after_cursor of the next call"),
    timed_out: z.boolean().describe("true if no message arrived in time"),
  }),
  run: async ({ uri, after_cursor: cursor, timeout_s: timeoutS, ...given }, context) => {
    const { reader } = context.app;
    const args = { ...(uri === undefined ? given : fromUri(uri, given)), allow_stale: true };
    requireStream(reader, args.source);
    const from =
      cursor === undefined ? { key: reader.store.newestKey(), at: reader.clock.now() } : decodeLiveCursor(cursor);
    selectMessages(reader, args); // throws at once if the arguments are invalid
    const { messages, key } = await waitForSome(args, from, timeoutS * 1000, context);
    const next = messages.length === 0 ? { key, at: from.at } : { key, at: reader.clock.now() };
    return {
      structured: {
        messages: toJsonMessages(reader, messages, MAX_CONTENT),
        cursor: encodeLiveCursor(next),
        timed_out: messages.length === 0,
      },
      text: [
        messages.length === 0
          ? "(nothing new)"
          : toAnswer(reader, messages, { withChat: true, maxChars: MAX_CONTENT }).trimEnd(),
        `cursor: ${encodeLiveCursor(next)}`,
      ].join("\n"),
    };
  },
});

function fromUri(uri: string, given: MessageArgs): MessageArgs {
  const parsed = parseUri(uri);
  if (parsed?.kind !== "messages") {
    const hint = "Use messages://{source}/{chat} or messages://{source}/*";
    throw invalid("uri", `'${uri}' is not a resource of messages`, hint);
  }
  const [other] = Object.keys(given);
  if (other !== undefined) throw invalid(other, `Give '${other}' in the uri: 'uri' excludes other filters`);
  return parsed.args;
}

/** Returns without messages when the time is over, the client leaves or the server shuts down. */
async function waitForSome(
  args: MessageArgs,
  from: LiveCursor,
  timeoutMs: number,
  { app: { reader, feed, requests }, signal }: ToolContext,
): Promise<{ readonly messages: readonly StoredMessage[]; readonly key: number }> {
  const find = (after: number) => {
    const { filter } = selectMessages(reader, args);
    return findLiveMessages({ store: reader.store, feed, filter, after, since: from.at - SLACK_MS });
  };
  let found = find(from.key);
  if (found.messages.length === 0 && timeoutMs > 0) {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), timeoutMs);
    const ends = AbortSignal.any([signal, requests.closing, timeout.signal]);
    try {
      while (found.messages.length === 0 && !ends.aborted) {
        await feed.next(ends);
        found = find(found.key);
      }
    } finally {
      clearTimeout(timer);
    }
  }
  const messages = found.messages.slice(0, MAX_BATCH);
  // The cursor ends with the last message that is returned; the rest is for the next call.
  const isCut = messages.length < found.messages.length;
  return { messages, key: isCut ? (messages.at(-1)?.key ?? found.key) : found.key };
}
