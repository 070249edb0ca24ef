// Generates message ids by hashing: the same message has the same id in the next export.

import { createHash } from "node:crypto";

export interface IdParts {
  /** Local time, so that a corrected time zone does not change ids. */
  readonly wallMs: number;
  readonly sender: string | undefined;
  /** Without media references, which differ between exports with and without media. */
  readonly text: string;
}

/** Bounds memory. Equal messages have equal times and are close to each other. */
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
