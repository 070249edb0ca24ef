// The beginning of a legacy client's session: reads the params of `initialize` and negotiates the revision.

import { createHash } from "node:crypto";
import { negotiate } from "../revisions/era.ts";
import { isObject, type JsonObject } from "../../lib/json/json.ts";

export interface SessionInit {
  readonly version: string;
  readonly clientInfo: JsonObject | undefined;
  readonly capabilities: JsonObject;
}

export function sessionInit({ protocolVersion, clientInfo, capabilities }: JsonObject): SessionInit {
  return {
    version: negotiate(protocolVersion),
    clientInfo: isObject(clientInfo) ? clientInfo : undefined,
    capabilities: isObject(capabilities) ? capabilities : {},
  };
}

/** Identifies a session to others than its client, who may use whatever its id opens. The same after a restart of the hub. */
export function publicIdOf(sessionId: string): string {
  return createHash("sha256").update(sessionId).digest("base64url").slice(0, 12);
}

/** Counted by the service behind the transport. */
export class SessionUsage {
  calls = 0;
  /** Milliseconds since the epoch. */
  lastCallAt: number | undefined;
}
