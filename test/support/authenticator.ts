// An authenticator of a hub whose MCP endpoints are open, without access tokens.

import { AccessTokens } from "../../hub/src/auth/access-tokens.ts";
import { Authenticator } from "../../hub/src/auth/authenticator.ts";
import { ManagementToken } from "../../hub/src/auth/management-token.ts";

export function openToAll(): Authenticator {
  const tokens = new AccessTokens({
    hasStore: () => false,
    openStore: () => Promise.reject(new Error("there is no store")),
    onWarning: () => undefined,
  });
  return new Authenticator({ management: new ManagementToken("pb_x"), tokens, isMcpOpen: true });
}
