// Who asks a server: what decides which of its processes or connections is asked, and whom the server may ask back.

import type { Isolation } from "../config/types.ts";
import type { Era } from "../wire/era.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import type { AskClient } from "../wire/server.ts";
import type { Askable } from "./era-memory.ts";

export interface Caller {
  /** A client's session, unique among all of the hub's. A modern client has none. */
  readonly session?: string | undefined;
  /** The user behind it. Computed, because most servers never ask. */
  principal(): string;
  /** The era of the client. The hub's own edges have none, and take a server as it is. */
  readonly era?: Era;
  /** What the client can be asked. */
  readonly capabilities?: JsonObject;
  /** Asks the client outside of any request to a server, while its own request is open. */
  readonly ask?: AskClient | undefined;
  /** The same for as long as its session lasts, where it holds a stream open. */
  readonly askSession?: AskClient | undefined;
}

/** Whoever may use this machine: an unnamed client, the command line, the management API, a program around the hub. */
export const LOCAL: Caller = { principal: () => "local" };

/** Callers with the same key share an instance. Without a session there is nothing but the user to tell them apart. */
export function instanceKey(caller: Caller, isolation: Exclude<Isolation, "shared" | "per-call">): string {
  const { session } = caller;
  return isolation === "per-session" && session !== undefined ? sessionKey(session) : `principal ${caller.principal()}`;
}

export function sessionKey(session: string): string {
  return `session ${session}`;
}

export function canAnswer({ capabilities = {} }: Caller, kinds: ReadonlySet<Askable>): boolean {
  for (const kind of kinds) if (isObject(capabilities[kind])) return true;
  return false;
}
