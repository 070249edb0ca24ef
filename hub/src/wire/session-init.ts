// What a legacy client says about itself in `initialize`, and what is agreed with it.

import { negotiate } from "./era.ts";
import { isObject, type JsonObject } from "./json.ts";

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
