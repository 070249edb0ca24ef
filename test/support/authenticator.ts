// An authenticator of a hub whose MCP endpoints are open, without access tokens.

import { AccessTokens } from "../../hub/src/auth/access-tokens.ts";
import { Authenticator } from "../../hub/src/auth/authenticator.ts";
import { Users } from "../../hub/src/auth/users.ts";
import { resourceAddresses } from "../../hub/src/hub/resources.ts";
import { ManagementToken } from "../../hub/src/auth/management-token.ts";

export function openToAll(): Authenticator {
  const nothing = {
    hasStore: () => false,
    openStore: () => Promise.reject(new Error("there is no store")),
    onWarning: () => undefined,
  };
  const tokens = new AccessTokens({ ...nothing, users: new Users(nothing) });
  const addresses = resourceAddresses();
  return new Authenticator({ management: new ManagementToken("pb_x"), tokens, addresses, isMcpOpen: true });
}
