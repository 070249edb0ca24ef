// Recognises callers by their credentials, for every edge. Credentials are accepted in the header `Authorization` only.

import type { IncomingHttpHeaders } from "node:http";
import { HubError } from "../errors.ts";
import { looksLikeAccessToken } from "./access-token.ts";
import type { AccessTokens } from "./access-tokens.ts";
import { Grant, OWNER, type Role } from "./grant.ts";
import { bearerOf, type ManagementToken } from "./management-token.ts";
import { may } from "./policy.ts";

export interface AuthenticatorOptions {
  readonly management: ManagementToken;
  readonly tokens: AccessTokens;
  /** Whether the MCP endpoints accept callers without credentials. */
  readonly isMcpOpen: boolean;
}

type Headers = Pick<IncomingHttpHeaders, "authorization">;

const LIMITLESS = { principal: OWNER, role: "admin", groups: "*", readOnly: false } as const;

export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #owner = new Grant({ ...LIMITLESS, kind: "owner", id: "management" });
  /** Programs of this machine, where the endpoints are open to them. The management API never is. */
  readonly #anonymous = new Grant({ ...LIMITLESS, kind: "anonymous", id: "anonymous" });

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  get management(): ManagementToken {
    return this.#options.management;
  }

  /** The caller of the management API, if it has this role. Rejects without valid credentials, and without the role. */
  async authenticate({ authorization }: Headers, source: string, role: Role = "user"): Promise<Grant> {
    const grant = await this.#authenticate(authorization, source);
    requireRole(grant, role);
    return grant;
  }

  /**
   * The caller of an MCP endpoint; anonymous if it has no credentials of the hub and the endpoints are open; undefined if that
   * takes more than a look-up, or the caller is refused: `authenticateMcp` decides then.
   */
  findMcp({ authorization }: Headers, source?: string): Grant | undefined {
    const { isMcpOpen } = this.#options;
    if (authorization === undefined) return isMcpOpen ? this.#anonymous : undefined;
    const known = this.#find(authorization, source);
    if (known !== undefined) return known;
    const isOurs = looksLikeAccessToken(bearerOf(authorization) ?? "");
    // Programs on this machine may send credentials that mean something to others.
    return isMcpOpen && !isOurs ? this.#anonymous : undefined;
  }

  async authenticateMcp(headers: Headers, source: string): Promise<Grant> {
    const known = this.findMcp(headers, source);
    if (known !== undefined) return known;
    const presented = bearerOf(headers.authorization);
    if (presented !== undefined && looksLikeAccessToken(presented)) return this.#findLater(presented, source);
    if (presented === undefined) throw unauthenticated("This endpoint needs an access token");
    throw this.#options.management.failed(source, unauthenticated("This access token is not known"));
  }

  async #authenticate(authorization: string | undefined, source: string): Promise<Grant> {
    const known = this.#find(authorization, source);
    if (known !== undefined) return known;
    const presented = bearerOf(authorization);
    if (presented !== undefined && looksLikeAccessToken(presented)) return this.#findLater(presented, source);
    this.#options.management.require(authorization, source);
    return this.#owner;
  }

  #find(authorization: string | undefined, source: string | undefined): Grant | undefined {
    const presented = bearerOf(authorization);
    if (presented === undefined) return undefined;
    if (looksLikeAccessToken(presented)) return this.#options.tokens.find(presented, source);
    return this.#options.management.is(presented) ? this.#owner : undefined;
  }

  /** Another process may have made the token just now. */
  async #findLater(presented: string, source: string): Promise<Grant> {
    const { tokens, management } = this.#options;
    await tokens.reload();
    const found = tokens.find(presented, source);
    if (found !== undefined) return found;
    throw management.failed(source, unauthenticated("This access token was revoked, has expired, or never existed"));
  }
}

/** Throws unless the grant may do what needs the role. */
export function requireRole(grant: Grant, role: Role): void {
  if (may(grant, { to: "manage", as: role })) return;
  throw new HubError("Forbidden", `This needs the role ${role}, and the token has the role ${grant.role}`, {
    hint: `Use the management token, or make a token with the role: plugboard token add NAME --role ${role}`,
  });
}

function unauthenticated(message: string): HubError {
  return new HubError("Unauthenticated", message, {
    hint: "Make one with `plugboard token add NAME`, and send it as `Authorization: Bearer pbt_…`",
  });
}
