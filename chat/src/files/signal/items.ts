// Items of chats as events: a message, what it was before it was edited, or that it was taken back.

import type { NativeMessage, NativeReaction, SourceEvent } from "../../source.ts";
import { type Fields, fieldsOf, listOf, numberOf, textOf, timeOf } from "../fields.ts";
import { messageId } from "./ids.ts";
import type { Recipients } from "./recipients.ts";
import { type Substance, substanceOf } from "./substance.ts";

/** Edited messages whose later names are kept, for the answers to them. */
const MAX_REVISIONS = 100_000;

export class Items {
  readonly #recipients: Recipients;
  /** An edited message may be named by the time of any of its versions; the first one is its id. */
  readonly #originals = new Map<string, string>();

  constructor(recipients: Recipients) {
    this.#recipients = recipients;
  }

  /** The events, or what is wrong. */
  toEvents(item: Fields): readonly SourceEvent[] | string {
    const chat = this.#recipients.chat(item, "chatId");
    if (chat === undefined) return "an item of a chat that is not told";
    const author = this.#recipients.person(item, "authorId");
    if (author === undefined) return "an item of somebody who is not told";
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
    if (edits.length > 0) this.#remember(id, author.id, versions);
    const substance = substanceOf(item, this.#recipients);
    if (substance === "deleted") return [{ type: "delete", chat, ids: [id], at: versions.at(-1)?.at ?? first.at }];
    const message = this.#toMessage(
      { item, substance, first: substanceOf(first.fields, this.#recipients) },
      { id, chat, author: author.id, at: first.at },
    );
    return [
      { type: "message", message, origin: "import" },
      ...edits.flatMap(({ fields, at }): SourceEvent[] => {
        const edited = substanceOf(fields, this.#recipients);
        return edited === "deleted" ? [] : [{ type: "edit", chat, id, content: edited.content, at }];
      }),
    ];
  }

  #remember(id: string, author: string, versions: readonly { readonly at: number }[]): void {
    if (this.#originals.size >= MAX_REVISIONS) this.#originals.clear();
    for (const { at } of versions) this.#originals.set(messageId(author, at), id);
  }

  #toMessage(
    { item, substance, first }: { item: Fields; substance: Substance; first: Substance | "deleted" },
    { id, chat, author, at }: { id: string; chat: string; author: string; at: number },
  ): NativeMessage {
    const { kind, body, attachments } = substance;
    const replyTo = this.#quoted(fieldsOf(body["quote"]));
    const reactions = this.#reactions(body["reactions"]);
    const expiresInMs = numberOf(item["expiresInMs"]);
    const expiresFrom = numberOf(item["expireStartDate"]) ?? at;
    return {
      id,
      chat,
      at,
      kind,
      content: first === "deleted" ? substance.content : first.content,
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
