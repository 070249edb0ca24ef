// An id for a message that has none: from what it says, so that the same message has the same id in the next export.

import { createHash } from "node:crypto";

export interface IdParts {
  /** As it stands on the phone's wall: a zone that is set right later changes nothing. */
  readonly wallMs: number;
  readonly sender: string | undefined;
  /** Without what differs between an export with media and one without. */
  readonly text: string;
}

/** Equal messages are near to each other; counting all of a long chat would take its memory. */
const MAX_COUNTED = 200_000;

export class MessageIds {
  readonly #chat: string;
  readonly #seen = new Map<string, number>();

  constructor(chat: string) {
    this.#chat = chat;
  }

  next({ wallMs, sender, text }: IdParts): string {
    const parts = [this.#chat, String(wallMs), sender ?? "", text];
    const base = createHash("sha256")
      .update(parts.map((part) => `${part.length}:${part}`).join(""))
      .digest("base64url");
    const ordinal = this.#seen.get(base) ?? 0;
    if (this.#seen.size >= MAX_COUNTED) this.#seen.clear();
    this.#seen.set(base, ordinal + 1);
    const id = base.slice(0, 22);
    return ordinal === 0 ? id : `${id}.${ordinal}`;
  }
}
