// Signal ids in the form of signal-cli, so that import and live source agree: people by UUID, messages by author and send time.

import { textOf } from "../fields.ts";

const UUID_BYTES = 16;

/** Decodes a base64 UUID. */
export function uuidOf(base64: unknown): string | undefined {
  const bytes = Buffer.from(textOf(base64) ?? "", "base64");
  if (bytes.length !== UUID_BYTES) return undefined;
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

export function messageId(author: string, sentAt: number): string {
  return `${author}:${sentAt}`;
}
