// Recognises callers by their credentials, for every edge. Credentials are accepted in the header `Authorization` only.

import { HubError } from "../errors.ts";
import type { AccessTokens } from "./access-tokens.ts";
import { credentialIn, type Credential, type IdentifiedRequest } from "./credential.ts";
import { ownerGrant, type Grant, type Role } from "./grant.ts";
import type { ManagementToken } from "./management-token.ts";
import { may } from "./policy.ts";

export interface AuthenticatorOptions {
  readonly management: ManagementToken;
  readonly tokens: AccessTokens;
  /** Whether the MCP endpoints accept callers without credentials. */
  readonly isMcpOpen: boolean;
  /** Called for wrong credentials, and for callers who may not do what they want to. */
  readonly onRefused?: ((refusal: Refusal) => void) | undefined;
}

export interface Refusal {
  readonly by: Pick<Grant, "principal"> & Partial<Grant>;
  readonly address: string;
  readonly detail: string;
}

/** What someone needs to use the management API. */
export interface Need {
  readonly role: Role;
  /** Whether anything may be changed by it. */
  readonly changes: boolean;
}

export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #owner = ownerGrant({ kind: "owner", id: "management" });
  /** Programs of this machine, where the endpoints are open to them. The management API never is. */
  readonly #anonymous = ownerGrant({ kind: "anonymous", id: "anonymous" });

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    const by = { principal: "unknown" };
    options.management.whenFailed((address, { message }) => options.onRefused?.({ by, address, detail: message }));
  }

  get management(): ManagementToken {
    return this.#options.management;
  }

  /** The caller of the management API. Rejects without valid credentials; what the caller may do `requireRole` decides. */
  authenticate({ headers }: IdentifiedRequest, source: string): Promise<Grant> {
    return this.#authenticate(headers.authorization, source);
  }

  /** Throws unless the grant has the role. */
  requireRole(grant: Grant, { role, changes }: Need, source: string): void {
    if (may(grant, { to: "manage", as: role, changes })) return;
    const error = may(grant, { to: "manage", as: role, changes: false }) ? readsOnly() : tooLow(grant, role);
    this.#options.onRefused?.({ by: grant, address: source, detail: error.message });
    throw error;
  }

  /**
   * The caller of an MCP endpoint; anonymous if it has no credentials of the hub and the endpoints are open; undefined if that
   * takes more than a look-up, or the caller is refused: `authenticateMcp` decides then.
   */
  findMcp({ headers: { authorization } }: IdentifiedRequest, source?: string): Grant | undefined {
    const { isMcpOpen } = this.#options;
    if (authorization === undefined) return isMcpOpen ? this.#anonymous : undefined;
    const credential = credentialIn(authorization);
    const known = credential === undefined ? undefined : this.#find(credential, source);
    if (known !== undefined) return known;
    // Programs on this machine may send credentials that mean something to others.
    return isMcpOpen && credential?.shape !== "access-token" ? this.#anonymous : undefined;
  }

  async authenticateMcp(request: IdentifiedRequest, source: string): Promise<Grant> {
    const known = this.findMcp(request, source);
    if (known !== undefined) return known;
    const credential = credentialIn(request.headers.authorization);
    if (credential === undefined) throw unauthenticated("This endpoint needs an access token");
    if (credential.shape === "access-token") return this.#findLater(credential.token, source);
    throw this.#options.management.failed(source, unauthenticated("This access token is not known"));
  }

  async #authenticate(authorization: string | undefined, source: string): Promise<Grant> {
    const credential = credentialIn(authorization);
    const known = credential === undefined ? undefined : this.#find(credential, source);
    if (known !== undefined) return known;
    if (credential?.shape === "access-token") return this.#findLater(credential.token, source);
    this.#options.management.require(authorization, source);
    return this.#owner;
  }

  #find({ scheme, shape, token }: Credential, source: string | undefined): Grant | undefined {
    if (scheme !== "bearer") return undefined;
    switch (shape) {
      case "access-token":
        return this.#options.tokens.find(token, source);
      case "management":
        return this.#options.management.is(token) ? this.#owner : undefined;
      case "jwt":
      case "opaque":
        return undefined;
    }
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

function readsOnly(): HubError {
  return new HubError("Forbidden", "A read-only token changes nothing", { hint: "Use a token that is not read-only" });
}

function tooLow(grant: Grant, role: Role): HubError {
  return new HubError("Forbidden", `This needs the role ${role}, and the token has the role ${grant.role}`, {
    hint: `Use the management token, or make a token with the role: plugboard token add NAME --role ${role}`,
  });
}

function unauthenticated(message: string): HubError {
  return new HubError("Unauthenticated", message, {
    hint: "Make one with `plugboard token add NAME`, and send it as `Authorization: Bearer pbt_…`",
  });
}
