// Recognises callers by their credentials, for every edge. Credentials are accepted in the header `Authorization` only.

import { HubError, toHubError } from "../errors.ts";
import { isAccessToken } from "./access-token.ts";
import type { AccessTokens } from "./access-tokens.ts";
import { credentialIn, type Credential, type IdentifiedRequest } from "./credential.ts";
import { challengeText, withChallenge } from "./challenge.ts";
import { includesRole, ownerGrant, type Grant, type Role } from "./grant.ts";
import type { IssuerTokens } from "./providers/issuer-tokens.ts";
import { InvalidToken } from "./providers/refusals.ts";
import type { ManagementToken } from "./management-token.ts";
import { may } from "./policy.ts";
import { metadataUrl, type ResourceAddresses } from "./resource.ts";
import { scopeFor } from "./scopes.ts";

export interface AuthenticatorOptions {
  readonly management: ManagementToken;
  readonly tokens: AccessTokens;
  /** Tokens of identity providers. Undefined: none are accepted. */
  readonly issuers?: IssuerTokens | undefined;
  readonly addresses: ResourceAddresses;
  /** Whether clients can get tokens from the hub itself. */
  readonly isIssuer?: boolean;
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

  /** Whether callers of the MCP endpoints need credentials. */
  get needsToken(): boolean {
    return !this.#options.isMcpOpen;
  }

  /** Ends the timers of tokens. */
  close(): void {
    this.#options.issuers?.close();
  }

  get addresses(): ResourceAddresses {
    return this.#options.addresses;
  }

  /** Where clients can get tokens by themselves. */
  get authorizationServers(): readonly string[] {
    const { isIssuer = false, addresses, issuers } = this.#options;
    return [...(isIssuer ? [addresses.base] : []), ...(issuers?.issuers ?? [])];
  }

  /** The caller of the management API. Rejects without valid credentials; what the caller may do `requireRole` decides. */
  authenticate(request: IdentifiedRequest, source: string): Promise<Grant> {
    return this.#challenging(request, () => this.#authenticate(request, source));
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
  findMcp(request: IdentifiedRequest, source?: string): Grant | undefined {
    const { isMcpOpen } = this.#options;
    const { authorization } = request.headers;
    if (authorization === undefined) return isMcpOpen ? this.#anonymous : undefined;
    const credential = credentialIn(authorization);
    const known = credential === undefined ? undefined : this.#find(credential, request, source);
    if (known !== undefined) return known;
    // Programs on this machine may send credentials that mean something to others.
    return isMcpOpen && !this.#isOurs(credential) ? this.#anonymous : undefined;
  }

  async authenticateMcp(request: IdentifiedRequest, source: string): Promise<Grant> {
    const known = this.findMcp(request, source);
    if (known !== undefined) return known;
    return this.#challenging(request, async () => {
      const credential = credentialIn(request.headers.authorization);
      if (credential === undefined) throw unauthenticated("This endpoint needs an access token");
      const found = await this.#findLater(credential, request, source);
      if (found !== undefined) return found;
      if (this.#options.isMcpOpen && credential.shape === "opaque") return this.#anonymous;
      throw this.#options.management.failed(source, unauthenticated("This access token is not known"));
    });
  }

  async #authenticate(request: IdentifiedRequest, source: string): Promise<Grant> {
    const { authorization } = request.headers;
    const credential = credentialIn(authorization);
    const known =
      credential && (this.#find(credential, request, source) ?? (await this.#findLater(credential, request, source)));
    if (known !== undefined) return known;
    this.#options.management.require(authorization, source);
    return this.#owner;
  }

  #find(credential: Credential, request: IdentifiedRequest, source: string | undefined): Grant | undefined {
    const { tokens, management, issuers, addresses } = this.#options;
    const { scheme, shape, token } = credential;
    switch (shape) {
      case "access-token":
        return scheme === "bearer" ? tokens.find(token, source) : undefined;
      case "management":
        return scheme === "bearer" && management.is(token) ? this.#owner : undefined;
      case "jwt":
      case "opaque":
        return issuers?.find(credential, addresses.for(request.url));
    }
  }

  /** What takes more than a look-up. Undefined: it is no credential of the hub or of an issuer. */
  #findLater(credential: Credential, request: IdentifiedRequest, source: string): Promise<Grant | undefined> {
    switch (credential.shape) {
      case "access-token":
        return this.#reload(credential, source);
      case "management":
        return Promise.resolve(undefined);
      case "jwt":
      case "opaque":
        return this.#check(credential, request, source);
    }
  }

  /** Its fault is to be told to the client, and its callers are no strangers. */
  #isOurs(credential: Credential | undefined): boolean {
    if (credential === undefined) return false;
    return credential.shape === "access-token" || this.#options.issuers?.concerns(credential) === true;
  }

  async #check(credential: Credential, request: IdentifiedRequest, source: string): Promise<Grant | undefined> {
    const { issuers, addresses, management } = this.#options;
    try {
      return await issuers?.check(credential, request, addresses.for(request.url));
    } catch (thrown) {
      if (!(thrown instanceof InvalidToken)) throw thrown;
      const error = new HubError("Unauthenticated", thrown.message, {
        hint: "Get a new token for this address from the identity provider",
      });
      throw thrown.isGenuine ? error : management.failed(source, error);
    }
  }

  /** Another process may have made the token just now. */
  async #reload({ scheme, token }: Credential, source: string): Promise<Grant> {
    const { tokens, management } = this.#options;
    // A typing error is no reason to read.
    if (isAccessToken(token)) await tokens.reload();
    const found = scheme === "bearer" ? tokens.find(token, source) : undefined;
    if (found !== undefined) return found;
    throw management.failed(source, unauthenticated("This access token was revoked, has expired, or never existed"));
  }

  /** A refusal says which token is missing, and where a client can get one. */
  async #challenging(request: IdentifiedRequest, work: () => Promise<Grant>): Promise<Grant> {
    try {
      return await work();
    } catch (thrown) {
      throw withChallenge(toHubError(thrown), ({ kind, message }) => {
        const { addresses } = this;
        const resource = addresses.for(request.url);
        const canBeGot = this.authorizationServers.length > 0;
        const isMissing = request.headers.authorization === undefined;
        const fault = kind === "InsufficientScope" ? "insufficient_scope" : "invalid_token";
        return {
          metadata: canBeGot ? metadataUrl(resource, addresses.base) : undefined,
          scope: canBeGot ? resource.scope : undefined,
          ...(isMissing ? {} : { error: fault, description: message }),
        };
      });
    }
  }
}

function readsOnly(): HubError {
  return new HubError("Forbidden", "A read-only token changes nothing", { hint: "Use a token that is not read-only" });
}

function tooLow(grant: Grant, role: Role): HubError {
  if (grant.role !== grant.unscopedRole && !grant.hasEnded && includesRole(grant.unscopedRole, role)) {
    const scope = scopeFor(role);
    const message = `The token was not issued for the scope ${scope}`;
    return new HubError("InsufficientScope", message, {
      hint: `Ask the identity provider for a token with the scope ${scope}`,
      wwwAuthenticate: challengeText({ scope, error: "insufficient_scope", description: message }),
    });
  }
  return new HubError("Forbidden", `This needs the role ${role}, and the token has the role ${grant.role}`, {
    hint: `Use the management token, or make a token with the role: plugboard token add NAME --role ${role}`,
  });
}

function unauthenticated(message: string): HubError {
  return new HubError("Unauthenticated", message, {
    hint: "Make one with `plugboard token add NAME`, and send it as `Authorization: Bearer pbt_…`",
  });
}
