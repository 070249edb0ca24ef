// A query of the call log, checked: which ids a page may show, and how many. The cursor's form is decided here alone.

import { HubError } from "../errors.ts";
import type { CallQuery } from "./log.ts";

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1000;
const CURSOR = /^c([1-9]\d{0,15})$/;

export interface PageBounds {
  readonly limit: number;
  /** Ids of the page are smaller than this. */
  readonly below: number;
  /** Ids of the page are larger than this. */
  readonly above: number;
}

/** Throws InvalidConfig, with its field, for what no log can answer. */
export function parseBounds({ id, limit = DEFAULT_LIMIT, cursor, after }: CallQuery): PageBounds {
  if (!Number.isInteger(limit) || limit < 1) throw invalid("limit", "limit must be a whole number above zero");
  if (after !== undefined && !Number.isInteger(after)) throw invalid("after", "after must be the id of a call");
  if (id !== undefined) return { limit: 1, below: id + 1, above: id - 1 };
  return {
    limit: Math.min(limit, MAX_LIMIT),
    below: cursor === undefined ? Number.MAX_SAFE_INTEGER : parseCursor(cursor),
    above: Math.max(after ?? 0, 0),
  };
}

/** The cursor of the page that follows the call with this id. */
export function toCursor(id: number): string {
  return Buffer.from(`c${id}`).toString("base64url");
}

function parseCursor(cursor: string): number {
  const id = Number(CURSOR.exec(Buffer.from(cursor, "base64url").toString("latin1"))?.[1]);
  // The second test refuses another spelling of the same bytes, which nobody was given.
  if (!Number.isSafeInteger(id) || toCursor(id) !== cursor) {
    throw invalid("cursor", "The cursor is not one of this log");
  }
  return id;
}

function invalid(field: string, message: string): HubError {
  return new HubError("InvalidConfig", message, { field });
}
