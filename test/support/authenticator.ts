// An authenticator of a hub whose MCP endpoints are open, without access tokens.

import { AccessTokens } from "../../hub/src/auth/access-tokens.ts";
import { Authenticator } from "../../hub/src/auth/authenticator.ts";
import { Users } from "../../hub/src/auth/users.ts";
import { ManagementToken } from "../../hub/src/auth/management-token.ts";

export function openToAll(): Authenticator {
  const nothing = {
    hasStore: () => false,
    openStore: () => Promise.reject(new Error("there is no store")),
    onWarning: () => undefined,
  };
  const tokens = new AccessTokens({ ...nothing, users: new Users(nothing) });
  return new Authenticator({ management: new ManagementToken("pb_x"), tokens, isMcpOpen: true });
}
