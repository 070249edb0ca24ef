// The cursor that clients get: the store's cursor, with what was resolved for the first page. "The last 7 days" and "all chats"
// mean the same on every page, and a cursor is refused with other parameters.

import { createHash } from "node:crypto";
import { z } from "zod";
import { invalid } from "../errors.ts";

const Payload = z.tuple([
  z.literal(2),
  z.string(),
  z.number().nullable(),
  z.number().nullable(),
  z.number().nullable(),
  z.number().int().nonnegative(),
  z.string(),
]);

export interface CursorState {
  /** The store's own cursor. */
  readonly cursor: string;
  readonly since: number | undefined;
  readonly before: number | undefined;
  /** Chats with a higher key appeared after the first page, and are left out. */
  readonly newestChat: number | undefined;
  /** The part of the first page's offset that is still to be skipped. */
  readonly offset: number;
}

/** `params` are the parameters that must be the same on every page. */
export function encodeCursor({ cursor, since, before, newestChat, offset }: CursorState, params: unknown): string {
  const payload = [2, cursor, since ?? null, before ?? null, newestChat ?? null, offset, fingerprint(params)];
  return Buffer.from(JSON.stringify(payload)).toString("base64url");
}

export function decodeCursor(text: string, params: unknown): CursorState {
  const [, cursor, since, before, newestChat, offset, print] = parse(text);
  if (print !== fingerprint(params)) {
    throw invalid(
      "cursor",
      "The cursor belongs to other parameters",
      "Repeat the parameters of the first page, or omit the cursor",
    );
  }
  return {
    cursor,
    since: since ?? undefined,
    before: before ?? undefined,
    newestChat: newestChat ?? undefined,
    offset,
  };
}

function parse(text: string): z.infer<typeof Payload> {
  try {
    return Payload.parse(JSON.parse(Buffer.from(text, "base64url").toString("utf8")));
  } catch {
    throw invalid("cursor", "Invalid cursor", "Use next_cursor of the previous page, or omit it");
  }
}

function fingerprint(params: unknown): string {
  return createHash("sha256").update(JSON.stringify(params)).digest("base64url").slice(0, 16);
}
