// Where somebody has read up to in the stream of new messages.

import { z } from "zod";
import { invalid } from "../errors.ts";

export interface LiveCursor {
  /** Of the last message that was told. */
  readonly key: number;
  /** When that was. */
  readonly at: number;
}

const Payload = z.tuple([z.literal("live"), z.number().int().nonnegative(), z.number().int()]);

export function sealLiveCursor({ key, at }: LiveCursor): string {
  return Buffer.from(JSON.stringify(["live", key, at])).toString("base64url");
}

export function openLiveCursor(text: string): LiveCursor {
  try {
    const [, key, at] = Payload.parse(JSON.parse(Buffer.from(text, "base64url").toString("utf8")));
    return { key, at };
  } catch {
    throw invalid(
      "after_cursor",
      "This is no cursor of new messages",
      "Take cursor from the answer before, or leave it out",
    );
  }
}
