// Pushes new messages as `notifications/claude/channel`, an extension with which a client wakes its model. Off by default.

import type { JSONRPCNotification } from "@modelcontextprotocol/server";
import type { App } from "../app.ts";
import { summaryOf } from "../model/lines.ts";
import { selectMessages } from "../access/message-selection.ts";
import { Watch } from "../live/watch.ts";

/** Returns a function that stops it. */
export function startChannel(
  { reader, feed, log }: App,
  send: (notification: JSONRPCNotification) => void,
): () => void {
  const watch = new Watch({
    store: reader.store,
    feed,
    filter: () => selectMessages(reader, { allow_stale: true }).filter,
    onError: (error) => log(`warning: ${error instanceof Error ? error.message : String(error)}`),
    deliver: ({ messages }) => {
      for (const message of messages) {
        if (message.sender?.isSelf === true) continue;
        const { id, source, chat_id, chat_name, sender, timestamp } = reader.presenter.message(message);
        const content = summaryOf(reader.presenter.redact(message));
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
