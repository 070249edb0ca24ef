// The resource subscriptions of one client, by URI. Several subscriptions to one URI share a watch. Updates repeat the URI as
// the client wrote it, since clients compare URIs as strings.

import { ChatError, invalid, type ChatErrorCode } from "../errors.ts";
import { cutText, summaryOf } from "../model/lines.ts";
import type { Presenter } from "../access/presenter.ts";
import type { StoredMessage } from "../model/store-port.ts";
import { selectMessages, type Selection } from "../access/message-selection.ts";
import type { Reader } from "../access/reader.ts";
import { parseUri } from "../access/uris.ts";
import type { Feed } from "./feed.ts";
import { encodeLiveCursor } from "./live-cursor.ts";
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

  /** Throws if there is no such resource, or its source has no live messages. */
  add(uri: string): void {
    const known = this.#watches.get(uri);
    if (known !== undefined) {
      known.uses += 1;
      return;
    }
    if (this.#watches.size >= MAX_URIS) {
      throw new ChatError("BUSY", `At most ${MAX_URIS} resources can be subscribed to`);
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
    const { presenter, clock } = this.#options.reader;
    return {
      uri,
      _meta: {
        [MESSAGES_META]: messages.map((message) => preview(message, presenter)),
        [CURSOR_META]: encodeLiveCursor({ key, at: clock.now() }),
        ...(dropped === 0 ? {} : { [DROPPED_META]: dropped }),
      },
    };
  }
}

function preview(message: StoredMessage, presenter: Presenter): Readonly<Record<string, unknown>> {
  const {
    source,
    chat_id,
    chat_name,
    id,
    sender,
    is_self,
    timestamp,
    kind = "text",
    attachments,
  } = presenter.message(message);
  const summary = summaryOf(presenter.redact(message));
  const isCut = summary.length > PREVIEW_CHARS;
  return {
    source,
    chat_id,
    chat_name,
    id,
    sender,
    ...(is_self === undefined ? {} : { is_self }),
    timestamp,
    kind,
    preview: isCut ? `${cutText(summary, PREVIEW_CHARS)}…` : summary,
    ...(isCut ? { truncated: true } : {}),
    ...(attachments === undefined ? {} : { attachments }),
  };
}

/**
 * The filter of a URI, with the same meaning as when the resource is read: messages of the network itself only with
 * include_system. Any message changes a list of chats. Throws if the resource cannot be subscribed to.
 */
function liveFilter(reader: Reader, uri: string): () => Selection["filter"] {
  const parsed = parseUri(uri);
  if (parsed === undefined) {
    throw invalid("uri", `There is no resource '${uri}'`, "Use messages://{source}/{chat} or messages://{source}/*");
  }
  const args = parsed.kind === "chats" ? { source: parsed.source, include_system: true } : parsed.args;
  requireStream(reader, args.source);
  // New messages will come when the source is connected again.
  const select = () => selectMessages(reader, { ...args, allow_stale: true }).filter;
  select();
  return () => {
    try {
      return select();
    } catch (error) {
      // The user has removed or hidden it; it may come back.
      if (error instanceof ChatError && REMOVED_CODES.includes(error.code)) return undefined;
      throw error;
    }
  };
}

const REMOVED_CODES: readonly ChatErrorCode[] = ["SOURCE_NOT_FOUND", "CHAT_NOT_FOUND"];

/** Throws if the source has no live messages. */
export function requireStream(reader: Reader, source: string | undefined): void {
  if (source === undefined) return;
  const { capabilities } = reader.sources.get(source).source;
  if (capabilities.stream) return;
  throw new ChatError(
    "STREAMING_NOT_SUPPORTED",
    `Source '${source}' does not support streaming: it has imported messages only`,
    { field: "source", hint: "Read it with get_messages; the next import adds more" },
  );
}
