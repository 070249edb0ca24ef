// New messages as `notifications/claude/channel`, for the client that wakes its model with them. Not of the protocol itself, and
// off unless it was asked for.

import type { JSONRPCNotification } from "@modelcontextprotocol/server";
import type { App } from "../app.ts";
import { Watch } from "../live/watch.ts";

/** The function that ends it. */
export function startChannel(
  { reader, feed, log }: App,
  send: (notification: JSONRPCNotification) => void,
): () => void {
  const watch = new Watch({
    store: reader.store,
    feed,
    filter: () => reader.select({ allowStale: true }).filter,
    onError: (error) => log(`warning: ${error instanceof Error ? error.message : String(error)}`),
    deliver: ({ messages }) => {
      for (const message of messages) {
        if (message.sender?.isSelf === true) continue;
        const { id, source, chat_id, chat_name, sender, timestamp, content } = reader.outgoing.message(message);
        send({
          jsonrpc: "2.0",
          method: "notifications/claude/channel",
          params: { content, meta: { source, chat_id, chat_name, message_id: id, sender: sender ?? "", timestamp } },
        });
      }
    },
  });
  return () => watch.close();
}
