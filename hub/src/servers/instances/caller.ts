// The caller of a server: picks the instance that serves it, and can answer requests of the server.

import type { Isolation } from "../../config/schema/types.ts";
import type { Era } from "../../protocol/revisions/era.ts";
import { isObject, type JsonObject } from "../../lib/json/json.ts";
import type { AskClient } from "../../protocol/serve/service.ts";
import type { ClientFeature } from "../connection/era-memory.ts";

export interface Caller {
  /** A client's session id, unique in the hub. A modern client has none. */
  readonly session?: string | undefined;
  /** The user behind it. Computed on demand, since most servers need no instances. */
  principal(): string;
  /** Whose logins and personal secrets its requests use: its principal if that was authenticated, else the owner of the hub. */
  credentialsOf(): string;
  /** The era of the client. Undefined for the hub's own edges, which support both. */
  readonly era?: Era;
  /** The client's capabilities. */
  readonly capabilities?: JsonObject;
  /** Sends a request to the client on the stream of its open request. */
  readonly ask?: AskClient | undefined;
  /** Sends a request to the client on the stream of its session. */
  readonly askSession?: AskClient | undefined;
}

/** The local user: a client without credentials, the command line, the management API, a program that embeds the hub. */
export const LOCAL: Caller = callerFor("local");

/** A caller of the hub's own edges. */
export function callerFor(principal: string): Caller {
  return { principal: () => principal, credentialsOf: () => principal };
}

/** Callers with the same key share an instance. Callers without a session are distinguished by user only. */
export function instanceKey(caller: Caller, isolation: Exclude<Isolation, "shared" | "per-call">): string {
  const { session } = caller;
  return isolation === "per-session" && session !== undefined ? sessionKey(session) : `principal ${caller.principal()}`;
}

export function sessionKey(session: string): string {
  return `session ${session}`;
}

export function canAnswer({ capabilities = {} }: Caller, features: ReadonlySet<ClientFeature>): boolean {
  for (const feature of features) if (isObject(capabilities[feature])) return true;
  return false;
}
