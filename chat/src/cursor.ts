// The cursor that clients get: the store's own, with what was decided when the first page was asked for. So "the last 7 days"
// and "all chats" mean the same on every page, and a cursor is refused with other parameters.

import { createHash } from "node:crypto";
import { z } from "zod";
import { invalid } from "./errors.ts";

const Payload = z.tuple([
  z.literal(1),
  z.string(),
  z.number().nullable(),
  z.number().nullable(),
  z.number().nullable(),
  z.string(),
]);

export interface Place {
  /** Of the store. */
  readonly cursor: string;
  readonly since: number | undefined;
  readonly before: number | undefined;
  /** Chats that are newer than this one have come since the first page. */
  readonly newestChat: number | undefined;
}

/** `params` are the ones that decide what is found, as they were given. */
export function sealCursor({ cursor, since, before, newestChat }: Place, params: unknown): string {
  const payload = [1, cursor, since ?? null, before ?? null, newestChat ?? null, fingerprint(params)];
  return Buffer.from(JSON.stringify(payload)).toString("base64url");
}

export function openCursor(text: string, params: unknown): Place {
  const [, cursor, since, before, newestChat, print] = parse(text);
  if (print !== fingerprint(params)) {
    throw invalid(
      "cursor",
      "The cursor belongs to other parameters",
      "Repeat the parameters of the first page, or leave out the cursor",
    );
  }
  return { cursor, since: since ?? undefined, before: before ?? undefined, newestChat: newestChat ?? undefined };
}

function parse(text: string): z.infer<typeof Payload> {
  try {
    return Payload.parse(JSON.parse(Buffer.from(text, "base64url").toString("utf8")));
  } catch {
    throw invalid("cursor", "This is no cursor of ours", "Take next_cursor from the page before, or leave it out");
  }
}

function fingerprint(params: unknown): string {
  return createHash("sha256").update(JSON.stringify(params)).digest("base64url").slice(0, 16);
}
