// Who asks a server: what decides, of a server whose callers do not share one process or connection, which of them is asked.

import type { Isolation } from "../config/types.ts";

export interface Caller {
  /** A client's session, unique among all of the hub's. A modern client has none. */
  readonly session?: string | undefined;
  /** The user behind it. A function, because most servers never ask. */
  readonly principal: () => string;
}

/** Whoever may use this machine: an unnamed client, the command line, the management API, a program around the hub. */
export const LOCAL: Caller = { principal: () => "local" };

/** Callers with the same key share an instance. Without a session there is nothing but the user to tell them apart. */
export function instanceKey({ session, principal }: Caller, isolation: Exclude<Isolation, "per-call">): string {
  return isolation === "per-session" && session !== undefined ? sessionKey(session) : `principal ${principal()}`;
}

export function sessionKey(session: string): string {
  return `session ${session}`;
}
