// The part of the client about access tokens.

import type { AccessToken, AccessTokenInput, NewAccessToken } from "../schemas/token.ts";
import type { Connection } from "./connection.ts";

export class TokensClient {
  readonly #hub: Connection;

  constructor(hub: Connection) {
    this.#hub = hub;
  }

  /** The valid ones. */
  list(): Promise<AccessToken[]> {
    return this.#hub.request("/tokens");
  }

  /** The answer is the only place where the token itself is shown. */
  create(input: AccessTokenInput): Promise<NewAccessToken> {
    return this.#hub.request("/tokens", { method: "POST", body: input });
  }

  /** By id or name. */
  revoke(idOrName: string): Promise<void> {
    return this.#hub.request(`/tokens/${encodeURIComponent(idOrName)}`, { method: "DELETE" });
  }
}
