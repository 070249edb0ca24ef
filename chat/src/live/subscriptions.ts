// What one client watches: resources by URI, wildcards and filters included. Each URI has one look-out, however often it is
// asked for, and is told of as it was written, since clients compare URIs letter by letter.

import { ChatError, invalid, type ChatErrorCode } from "../errors.ts";
import type { StoredMessage } from "../query.ts";
import type { Reader } from "../reader.ts";
import { parseUri } from "../uris.ts";
import type { Feed } from "./feed.ts";
import { sealLiveCursor } from "./live-cursor.ts";
import { Watch, type Batch } from "./watch.ts";

/** Of `notifications/resources/updated`. */
export interface Update {
  readonly uri: string;
  readonly _meta: Readonly<Record<string, unknown>>;
}

export interface SubscriptionsOptions {
  readonly reader: Reader;
  readonly feed: Feed;
  readonly notify: (update: Update) => void;
  readonly onError: (error: unknown) => void;
}

const MESSAGES_META = "plugboard-chat/messages";
const CURSOR_META = "plugboard-chat/cursor";
const DROPPED_META = "plugboard-chat/dropped";
const MAX_URIS = 1000;
const PREVIEW_CHARS = 500;

export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #watches = new Map<string, { readonly watch: Watch; uses: number }>();

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
  }

  /** Throws where the URI is none of ours, or its source tells of nothing. */
  add(uri: string): void {
    const known = this.#watches.get(uri);
    if (known !== undefined) {
      known.uses += 1;
      return;
    }
    if (this.#watches.size >= MAX_URIS) {
      throw new ChatError("BUSY", `${MAX_URIS} resources are watched, and more are not taken`);
    }
    const { reader, feed, onError } = this.#options;
    const filter = liveFilter(reader, uri);
    const deliver = (batch: Batch): void => this.#options.notify(this.#update(uri, batch));
    this.#watches.set(uri, { watch: new Watch({ store: reader.store, feed, filter, deliver, onError }), uses: 1 });
  }

  remove(uri: string): void {
    const known = this.#watches.get(uri);
    if (known === undefined) return;
    known.uses -= 1;
    if (known.uses > 0) return;
    known.watch.close();
    this.#watches.delete(uri);
  }

  close(): void {
    for (const { watch } of this.#watches.values()) watch.close();
    this.#watches.clear();
  }

  #update(uri: string, { messages, dropped, key }: Batch): Update {
    const { outgoing, clock } = this.#options.reader;
    return {
      uri,
      _meta: {
        [MESSAGES_META]: messages.map((message) => preview(outgoing.redacted(message), outgoing.time(message.at))),
        [CURSOR_META]: sealLiveCursor({ key, at: clock.now() }),
        ...(dropped === 0 ? {} : { [DROPPED_META]: dropped }),
      },
    };
  }
}

function preview(message: StoredMessage, timestamp: string): Readonly<Record<string, unknown>> {
  return {
    source: message.source,
    chat_id: message.chat.id,
    chat_name: message.chat.name,
    id: message.id,
    sender: message.sender?.name ?? null,
    timestamp,
    preview: message.content.slice(0, PREVIEW_CHARS),
  };
}

/** What a URI selects of the new messages. Throws where it cannot be watched. */
function liveFilter(reader: Reader, uri: string): () => ReturnType<Reader["select"]>["filter"] {
  const parsed = parseUri(uri);
  if (parsed === undefined) {
    throw invalid("uri", `'${uri}' is no resource here`, "Use messages://{source}/{chat} or messages://{source}/*");
  }
  const args = parsed.kind === "chats" ? { source: parsed.source } : parsed.args;
  requireStream(reader, args.source);
  // Whether the source is connected at this moment matters to nobody who waits for what comes.
  const select = () => reader.select({ ...args, allowStale: true, includeSystem: true }).filter;
  select();
  return () => {
    try {
      return select();
    } catch (error) {
      // The user has taken it away since: it tells nothing, and may come back.
      if (error instanceof ChatError && GONE.includes(error.code)) return undefined;
      throw error;
    }
  };
}

const GONE: readonly ChatErrorCode[] = ["SOURCE_NOT_FOUND", "CHAT_NOT_FOUND"];

/** Refuses a source that never tells of anything by itself. */
export function requireStream(reader: Reader, source: string | undefined): void {
  if (source === undefined) return;
  const { capabilities } = reader.sources.get(source).source;
  if (capabilities.stream) return;
  throw new ChatError(
    "STREAMING_NOT_SUPPORTED",
    `Source '${source}' does not support streaming: it holds what was imported, and nothing arrives by itself`,
    { field: "source", hint: "Read it with get_messages; after the next import there is more" },
  );
}
