// Where a page ended, as text that only the store reads. It belongs to one question: with other filters it is refused,
// since it would silently leave out or repeat messages.

import { createHash } from "node:crypto";
import { invalid, type ChatError } from "../errors.ts";

const VERSION = 1;
/**
 * A relative time such as `7d` has moved on by the next page. Within this it counts as the same, and the first page's
 * stands; who turns pages more slowly has to begin again.
 */
const MAX_DRIFT_MS = 60 * 60 * 1000;

export interface Bounds {
  readonly since?: number | undefined;
  readonly before?: number | undefined;
}

/** Two numbers that order what is paged through; null where the first one is unknown. */
export type Position = readonly [major: number | null, minor: number];

/** `question` is all that must stay the same, order included. */
export function toCursor(question: unknown, bounds: Bounds, position: Position): string {
  const parts = [VERSION, hash(question), position, bounds.since ?? null, bounds.before ?? null];
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

/** @throws {ChatError} INVALID_PARAMETER where it is no cursor, or one of another question. */
export function parseCursor(cursor: string, question: unknown, bounds: Bounds): { position: Position; bounds: Bounds } {
  const parts = parseParts(cursor);
  const [, hashed, position, since, before] = parts;
  if (hashed !== hash(question) || !isNear(since, bounds.since) || !isNear(before, bounds.before)) throw foreign();
  return { position, bounds: { since: since ?? undefined, before: before ?? undefined } };
}

type Parts = readonly [version: number, hash: string, position: Position, since: number | null, before: number | null];

function parseParts(cursor: string): Parts {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    if (isParts(parts)) return parts;
  } catch {
    // not even JSON
  }
  throw invalid("cursor", "The cursor is not one of this server", "leave it out to begin with the first page");
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

function foreign(): ChatError {
  const hint = "repeat the filters and the order of the first page, or leave the cursor out";
  return invalid("cursor", "The cursor belongs to a request with other filters", hint);
}

function hash(question: unknown): string {
  return createHash("sha256").update(JSON.stringify(question)).digest("base64url").slice(0, 16);
}
