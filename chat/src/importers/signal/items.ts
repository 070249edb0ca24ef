// Converts chat items to events: messages, their edits, and deletions.

import type { NativeMessage, NativeReaction, SourceEvent } from "../../model/source.ts";
import { type Fields, fieldsOf, listOf, numberOf, textOf, timeOf } from "../fields.ts";
import { messageId } from "./ids.ts";
import type { Recipients } from "./recipients.ts";
import { type ItemContent, type ContentContext, contentOf } from "./item-content.ts";

/** Bounds the revisions kept for resolving replies. */
const MAX_REVISIONS = 100_000;

export class Items {
  readonly #context: ContentContext;
  readonly #recipients: Recipients;
  /** Revision id to message id. Quotes may name any revision by its time; the first one is the message's id. */
  readonly #originals = new Map<string, string>();

  constructor(context: ContentContext) {
    this.#context = context;
    this.#recipients = context.recipients;
  }

  /** The events, or the reason why the item is skipped. */
  toEvents(item: Fields): readonly SourceEvent[] | string {
    const chat = this.#recipients.chat(item, "chatId");
    if (chat === undefined) return "an item of an unknown chat";
    const author = this.#recipients.person(item, "authorId");
    if (author === undefined) return "an item of an unknown author";
    const revisions = listOf(item["revisions"]).flatMap((revision) => {
      const fields = fieldsOf(revision);
      return fields === undefined ? [] : [fields];
    });
    const versions = [...revisions, item].flatMap((fields) => {
      const at = timeOf(numberOf(fields["dateSent"]));
      return at === undefined ? [] : [{ fields, at }];
    });
    const [first, ...edits] = versions;
    if (first === undefined) return "an item without a time";
    const id = messageId(author.id, first.at);
    if (edits.length > 0) this.#addRevisions(id, author.id, versions);
    const content = contentOf(item, this.#context);
    if (content === "deleted") return [{ type: "delete", chat, ids: [id], at: versions.at(-1)?.at ?? first.at }];
    const message = this.#toMessage(
      { item, content, first: contentOf(first.fields, this.#context) },
      { id, chat, author: author.id, at: first.at },
    );
    return [
      { type: "message", message, origin: "import" },
      ...edits.flatMap(({ fields, at }): SourceEvent[] => {
        const edited = contentOf(fields, this.#context);
        return edited === "deleted" ? [] : [{ type: "edit", chat, id, content: edited.content, at }];
      }),
    ];
  }

  #addRevisions(id: string, author: string, versions: readonly { readonly at: number }[]): void {
    if (this.#originals.size >= MAX_REVISIONS) this.#originals.clear();
    for (const { at } of versions) this.#originals.set(messageId(author, at), id);
  }

  #toMessage(
    { item, content, first }: { item: Fields; content: ItemContent; first: ItemContent | "deleted" },
    { id, chat, author, at }: { id: string; chat: string; author: string; at: number },
  ): NativeMessage {
    const { kind, body, attachments } = content;
    const replyTo = this.#quoted(fieldsOf(body["quote"]));
    const reactions = this.#reactions(body["reactions"]);
    const expiresInMs = numberOf(item["expiresInMs"]);
    const expiresFrom = numberOf(item["expireStartDate"]) ?? at;
    return {
      id,
      chat,
      at,
      kind,
      content: first === "deleted" ? content.content : first.content,
      ...(kind !== "system" && { sender: author }),
      ...(replyTo !== undefined && { replyTo }),
      ...(reactions.length > 0 && { reactions }),
      ...(attachments !== undefined && { attachments }),
      ...(expiresInMs !== undefined && expiresInMs > 0 && { expiresAt: expiresFrom + expiresInMs }),
    };
  }

  #quoted(quote: Fields | undefined): string | undefined {
    if (quote === undefined) return undefined;
    const at = numberOf(quote["targetSentTimestamp"]);
    const author = this.#recipients.person(quote, "authorId");
    if (at === undefined || author === undefined) return undefined;
    const id = messageId(author.id, at);
    return this.#originals.get(id) ?? id;
  }

  #reactions(reactions: unknown): readonly NativeReaction[] {
    return listOf(reactions).flatMap((reaction): NativeReaction[] => {
      const fields = fieldsOf(reaction);
      const emoji = textOf(fields?.["emoji"]);
      if (fields === undefined || emoji === undefined) return [];
      const by = this.#recipients.person(fields, "authorId");
      const at = timeOf(numberOf(fields["sentTimestamp"]));
      return [{ emoji, ...(by === undefined ? { count: 1 } : { by: by.id }), ...(at !== undefined && { at }) }];
    });
  }
}
