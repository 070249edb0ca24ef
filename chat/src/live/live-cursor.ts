// The cursor of new messages: the last one that a client has received.

import { z } from "zod";
import { invalid } from "../errors.ts";

export interface LiveCursor {
  /** Of the last message that was delivered. */
  readonly key: number;
  /** When it was delivered. */
  readonly at: number;
}

const Payload = z.tuple([z.literal("live"), z.number().int().nonnegative(), z.number().int()]);

export function encodeLiveCursor({ key, at }: LiveCursor): string {
  return Buffer.from(JSON.stringify(["live", key, at])).toString("base64url");
}

export function decodeLiveCursor(text: string): LiveCursor {
  try {
    const [, key, at] = Payload.parse(JSON.parse(Buffer.from(text, "base64url").toString("utf8")));
    return { key, at };
  } catch {
    throw invalid("after_cursor", "Invalid cursor", "Use the cursor of the previous answer, or omit it");
  }
}
