// Port: the records of legacy sessions, with which another process can continue them. Implemented by mcp/session-file.ts.

import type { JsonObject } from "../../lib/json/json.ts";
import type { SessionInit } from "./session-init.ts";

export interface SessionRecord extends SessionInit {
  readonly id: string;
  /** The principal that opened it; undefined: the edge did not authenticate. */
  readonly owner?: string | undefined;
  readonly logLevel?: string | undefined;
  /** Subscribed resources, by the client's URIs. */
  readonly watched: readonly string[];
  /** The number of the stream for unsolicited messages, so that the client can resume it. */
  readonly stream: number;
}

/** The records of one endpoint. A session is valid at its own endpoint only. */
export interface SessionRecords {
  /** The record of a session of another process, unless it has expired. */
  find(id: string): SessionRecord | undefined;
  /** Adds, changes or refreshes a record. Synchronous: it must exist before the client gets its reply. */
  put(record: SessionRecord): void;
  remove(id: string): void;
  /** Default: random. */
  readonly newId?: () => string;
  /** Resolves when a new record exists for the other hubs, or cannot be written now. Undefined: no other hub needs it. */
  readonly saved?: () => Promise<void>;
}

/** A client may send `initialize` params of any size; larger records are not kept. */
export const MAX_RECORD_BYTES = 16 << 10;

export function isRecord(value: JsonObject): boolean {
  const { id, version, capabilities, owner, watched, stream } = value;
  return (
    typeof id === "string" &&
    typeof version === "string" &&
    (owner === undefined || typeof owner === "string") &&
    typeof capabilities === "object" &&
    capabilities !== null &&
    Array.isArray(watched) &&
    watched.every((uri) => typeof uri === "string") &&
    typeof stream === "number"
  );
}
