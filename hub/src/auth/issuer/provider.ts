// Configures the protocol library to be as small as MCP clients need it: code with PKCE, refresh tokens, revocation, registration,
// client documents, one audience per token; and client credentials for programs that an administrator has added. No ID tokens: signing
// in to other things is not its purpose.

import { generateKeyPairSync, randomBytes, randomUUID } from "node:crypto";
import type { Configuration, KoaContextWithOIDC, Provider } from "oidc-provider";
import { isObject } from "../../lib/json/json.ts";
import { makeAccessToken, type TokenPrefix } from "../access-token.ts";
import { isSecret } from "./client-secret.ts";
import { cleanClientMetadata } from "./client-metadata.ts";
import { loadLibrary } from "./library.ts";
import { CONSENT_PATH, isMetadata, ROUTES } from "./paths.ts";
import { ANY_GROUP, groupOfResource } from "./resources.ts";
import { isProgram } from "./programs.ts";
import type { Storage } from "./storage.ts";

export interface ProviderOptions {
  /** The address of the hub, as clients know it: the issuer. */
  readonly base: string;
  readonly storage: Storage;
  readonly defaultGroup: string;
  readonly rules: IssuerRules;
  /** Fetches the document of a client. Rejects unless its address is public. */
  readonly fetch: (url: string) => Promise<Response>;
  /** Whether a principal may still use the hub. */
  readonly isActive: (principal: string) => Promise<boolean>;
  /** Shows an error that cannot be sent to the client. */
  readonly showError: (context: KoaContextWithOIDC, error: Error) => void;
  readonly onUnexpected: (error: unknown) => void;
}

export interface IssuerRules {
  /** Whether clients may register themselves. */
  readonly registration: boolean;
  /** Whether the id of a client may be the address of its document: of these hosts, or of any. */
  readonly documents: boolean | readonly string[];
}

const ACCESS_S = 3600;
const REFRESH_S = 30 * 86_400;
/** The most that a person can consent to. */
export const LOGIN_S = 180 * 86_400;
/** Codes, and people who look at a page. */
const CODE_S = 60;
const PAGE_S = 600;
const MAX_ASSERTION_S = 300;
export const SCOPES = ["mcp", "mcp:read"] as const;
/** Seconds for which the document of a client is kept. */
const DOCUMENT_S = { min: 300, max: 86_400 };

export async function createProvider(options: ProviderOptions): Promise<Provider> {
  const { base, onUnexpected } = options;
  const library = await loadLibrary();
  const provider = new library.Provider(base, configure(options, library.errors));
  const isSecure = base.startsWith("https:");
  provider.use(async (context, next) => {
    // The connection may be plain behind a proxy that ends TLS.
    context.cookies.secure = isSecure;
    await next();
    if (isMetadata(context.path)) hideProgramMethods(context);
  });
  makeTokensOf(provider.AccessToken, "pbo_");
  makeTokensOf(provider.ClientCredentials, "pbo_");
  makeTokensOf(provider.RefreshToken, "pbr_");
  provider.Client.prototype.compareClientSecret = function (presented) {
    return isSecret(presented, this.clientSecret);
  };
  provider.on("server_error", (_context, error) => onUnexpected(error));
  return provider;
}

function configure(options: ProviderOptions, errors: typeof import("oidc-provider").errors): Configuration {
  const { base, storage, defaultGroup, rules, fetch, isActive, showError } = options;
  const cookie = { httpOnly: true, sameSite: "lax", secure: base.startsWith("https:") } as const;
  return {
    adapter: (model) => storage.adapter(model),
    routes: ROUTES,
    scopes: [...SCOPES],
    responseTypes: ["code"],
    clientAuthMethods: ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"],
    // Nothing is signed with it, but the library wants to have one.
    jwks: { keys: [signingKey()] },
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    enabledJWA: {
      idTokenSigningAlgValues: ["ES256"],
      clientAuthSigningAlgValues: ["ES256", "PS256", "RS256", "EdDSA"],
    },
    assertJwtClientAuthClaimsAndHeader: (_context, { exp }) => {
      // It can be used once, which is known for as long as the hub runs.
      if (Number(exp) > Date.now() / 1000 + MAX_ASSERTION_S) throw new errors.InvalidClientAuth("exp is too far away");
    },
    cookies: {
      keys: [randomBytes(32).toString("base64url")],
      long: { ...cookie, path: "/oauth" },
      short: cookie,
      names: { session: "pb_oauth", interaction: "pb_oauth_consent", resume: "pb_oauth_resume" },
    },
    extraClientMetadata: {
      properties: ["token_endpoint_auth_methods_supported"],
      validator: (_context, _name, _value, metadata) => {
        if (isProgram(metadata["client_id"])) return;
        const problem = cleanClientMetadata(metadata);
        if (problem !== undefined) throw new errors.InvalidClientMetadata(problem);
      },
    },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      dPoP: { enabled: false },
      registration: {
        enabled: rules.registration,
        issueRegistrationAccessToken: false,
        // The library's own may begin with a dash, which command lines take for an option.
        idFactory: () => randomUUID(),
      },
      clientIdMetadataDocument: {
        enabled: rules.documents !== false,
        ack: "draft-02",
        allowFetch: (_context, id) => mayFetch(rules.documents, id),
        cacheDuration: DOCUMENT_S,
      },
      clientCredentials: { enabled: true },
      revocation: { enabled: true, allowedPolicy: (_context, client, token) => token.clientId === client.clientId },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_context, _client, oneOf) => oneOf?.[0] ?? ANY_GROUP,
        useGrantedResource: () => true,
        getResourceServerInfo: async (context, resource, { clientId }) => {
          const asked = context.oidc.params?.["resource"];
          const isOne = !Array.isArray(asked) || asked.length === 1;
          const group = groupOfResource(resource, base, defaultGroup);
          // Before anyone has signed in, every group is as good as another: which exist is not told.
          if (!isOne || (resource !== ANY_GROUP && group === undefined)) {
            throw new errors.InvalidTarget("resource must be the address of one group of this hub");
          }
          if (group !== undefined && isProgram(clientId) && !(await storage.isOpenTo(clientId, group))) {
            throw new errors.InvalidTarget("this program has no access to the group");
          }
          return { scope: SCOPES.join(" "), audience: resource, accessTokenFormat: "opaque" };
        },
      },
    },
    fetch: (url) => fetch(new Request(url).url),
    findAccount: async (_context, principal) =>
      (await isActive(principal)) ? { accountId: principal, claims: () => ({ sub: principal }) } : undefined,
    interactions: { url: (_context, { uid }) => `${CONSENT_PATH}/${uid}` },
    // Only what was consented to just now: an earlier consent says nothing about who asks this time.
    loadExistingGrant: async ({ oidc }) => {
      const id = oidc.result?.consent?.grantId;
      return id === undefined ? undefined : oidc.provider.Grant.find(id);
    },
    allowOmittingSingleRegisteredRedirectUri: false,
    expiresWithSession: () => false,
    issueRefreshToken: (_context, client) => client.grantTypeAllowed("refresh_token"),
    rotateRefreshToken: true,
    pkce: { required: () => true },
    renderError: (context, _out, error) => showError(context, error),
    ttl: {
      AccessToken: ({ oidc }) => Math.min(ACCESS_S, remaining(oidc.entities.Grant?.exp)),
      AuthorizationCode: CODE_S,
      ClientCredentials: ACCESS_S,
      Grant: LOGIN_S,
      IdToken: ACCESS_S,
      Interaction: PAGE_S,
      RefreshToken: ({ oidc }) => Math.min(REFRESH_S, remaining(oidc.entities.Grant?.exp)),
      Session: PAGE_S,
    },
  };
}

/**
 * Only programs authenticate with keys. A client that knows how to, and logs people in, would try it if it were listed, and be
 * refused.
 */
function hideProgramMethods(context: { body: unknown }): void {
  const { body } = context;
  if (!isObject(body)) return;
  const shown = Object.entries(body).flatMap(([name, value]) => {
    if (name.endsWith("_endpoint_auth_signing_alg_values_supported")) return [];
    const isMethods = name.endsWith("_endpoint_auth_methods_supported") && Array.isArray(value);
    return [[name, isMethods ? value.filter((method) => method !== "private_key_jwt") : value]];
  });
  context.body = Object.fromEntries(shown);
}

/** The library has no setting for the form of its tokens. Its own function also notes that the token is opaque. */
function makeTokensOf(model: { readonly prototype: object }, prefix: TokenPrefix): void {
  const original: unknown = Reflect.get(model.prototype, "generateTokenId");
  if (typeof original !== "function") throw new TypeError("oidc-provider makes its tokens in another way");
  const value = function makeToken(this: object): string {
    Reflect.apply(original, this, []);
    return makeAccessToken(prefix);
  };
  Object.defineProperty(model.prototype, "generateTokenId", { value });
}

function mayFetch(documents: IssuerRules["documents"], id: string): boolean {
  const { hostname, search } = new URL(id);
  if (search !== "" || id.includes("?")) return false;
  return typeof documents === "boolean" ? documents : documents.includes(hostname);
}

/** At least one second: the library takes no other, and the login itself is checked, too. */
function remaining(expiresAt: number | undefined): number {
  return expiresAt === undefined ? ACCESS_S : Math.max(1, expiresAt - Math.floor(Date.now() / 1000));
}

function signingKey() {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { ...privateKey.export({ format: "jwk" }), alg: "ES256", use: "sig", kid: "unused" };
}
