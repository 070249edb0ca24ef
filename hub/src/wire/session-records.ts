// What must be known of a legacy session to go on with it in another process: the port. Where it is kept is left to those who
// implement it (store/session-file.ts).

import type { JsonObject } from "./json.ts";
import type { SessionInit } from "./session-init.ts";

export interface SessionRecord extends SessionInit {
  readonly id: string;
  readonly logLevel?: string | undefined;
  /** Resources that the client watches, by the URIs that it knows. */
  readonly watched: readonly string[];
  /** The number of the stream on which it hears what it has not asked for, so that it can go on with that. */
  readonly stream: number;
}

/** The records of one endpoint. A session is known at its own endpoint only. */
export interface SessionRecords {
  /** Of a session that another process had, unless it has been unused for too long. */
  find(id: string): SessionRecord | undefined;
  /** It began, it changed, or it is still in use. Synchronous: once its client is answered, it must be there. */
  put(record: SessionRecord): void;
  /** It has ended. */
  remove(id: string): void;
}

/** A client's own words may be of any size; what is larger than this is not worth keeping. */
export const MAX_RECORD_BYTES = 16 << 10;

export function isRecord(value: JsonObject): boolean {
  const { id, version, capabilities, watched, stream } = value;
  return (
    typeof id === "string" &&
    typeof version === "string" &&
    typeof capabilities === "object" &&
    capabilities !== null &&
    Array.isArray(watched) &&
    watched.every((uri) => typeof uri === "string") &&
    typeof stream === "number"
  );
}
