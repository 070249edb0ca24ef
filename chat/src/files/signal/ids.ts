// Signal's ids, as a linked device spells them too: people by their UUID, messages by author and time of sending.

import { createHash } from "node:crypto";
import { textOf } from "../fields.ts";

const UUID_BYTES = 16;

/** Bytes come in base64. */
export function uuidOf(base64: unknown): string | undefined {
  const bytes = Buffer.from(textOf(base64) ?? "", "base64");
  if (bytes.length !== UUID_BYTES) return undefined;
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** From a group's master key, which opens the group and must not be stored. */
export function groupIdOf(masterKey: unknown): string | undefined {
  const key = textOf(masterKey);
  if (key === undefined) return undefined;
  return `group:${createHash("sha256").update(Buffer.from(key, "base64")).digest("base64url").slice(0, 22)}`;
}

export function messageId(author: string, sentAt: number): string {
  return `${author}:${sentAt}`;
}
