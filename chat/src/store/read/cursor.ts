// The store's cursors: the position where a page ended, and a hash of its query. A cursor is refused with another query, since
// it would silently skip or repeat messages.

import { createHash } from "node:crypto";
import { invalid, type ChatError } from "../../errors.ts";

const VERSION = 1;
/**
 * A relative time such as `7d` moves on between two pages. Within this drift it counts as the same, and the first page's time
 * is used; later the cursor is refused.
 */
const MAX_DRIFT_MS = 60 * 60 * 1000;

export interface Bounds {
  readonly since?: number | undefined;
  readonly before?: number | undefined;
}

/** The sort key of the last item; null if the first part is unknown. */
export type Position = readonly [major: number | null, minor: number];

/** `query` is all that must stay the same, order included. */
export function toCursor(query: unknown, bounds: Bounds, position: Position): string {
  const parts = [VERSION, hash(query), position, bounds.since ?? null, bounds.before ?? null];
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

/** @throws {ChatError} INVALID_PARAMETER if it is not a cursor, or one of another query. */
export function parseCursor(cursor: string, query: unknown, bounds: Bounds): { position: Position; bounds: Bounds } {
  const parts = parseParts(cursor);
  const [, hashed, position, since, before] = parts;
  if (hashed !== hash(query) || !isNear(since, bounds.since) || !isNear(before, bounds.before)) throw otherFilters();
  return { position, bounds: { since: since ?? undefined, before: before ?? undefined } };
}

type Parts = readonly [version: number, hash: string, position: Position, since: number | null, before: number | null];

function parseParts(cursor: string): Parts {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    if (isParts(parts)) return parts;
  } catch {
    // Not JSON: an invalid cursor like any other.
  }
  throw invalid("cursor", "Invalid cursor", "Omit it to begin with the first page");
}

function isParts(parts: unknown): parts is Parts {
  if (!Array.isArray(parts) || parts.length !== 5) return false;
  const [version, hashed, position, since, before]: unknown[] = parts;
  if (version !== VERSION || typeof hashed !== "string" || !Array.isArray(position) || position.length !== 2)
    return false;
  const [major, minor]: unknown[] = position;
  return isWhole(minor) && [major, since, before].every((part) => part === null || isWhole(part));
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function isNear(first: number | null, now: number | undefined): boolean {
  if (first === null || now === undefined) return first === null && now === undefined;
  return now >= first && now - first <= MAX_DRIFT_MS;
}

function otherFilters(): ChatError {
  const hint = "Repeat the filters and the order of the first page, or omit the cursor";
  return invalid("cursor", "The cursor belongs to a request with other filters", hint);
}

function hash(query: unknown): string {
  return createHash("sha256").update(JSON.stringify(query)).digest("base64url").slice(0, 16);
}
