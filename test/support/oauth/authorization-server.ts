// A real authorization server, oidc-provider, in the test's process and behind a front that can fail. Nobody sits at a
// browser: login and consent are answered at once as the test says.

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair } from "jose";
import type { ClientMetadata, Configuration, errors, Provider } from "oidc-provider";
import { vi } from "vitest";
import { Front, type Routes } from "./front.ts";
import { GrantStorage } from "./grant-storage.ts";
import type { Issuer } from "./issuer.ts";

const ROUTES: Routes = [
  [/^\/\.well-known\//, "metadata"],
  [/^\/auth(?:\/|$)/, "authorize"],
  [/^\/token$/, "token"],
  [/^\/reg(?:\/|$)/, "register"],
  [/^\/token\/revocation$/, "revoke"],
  [/^\/device\/auth$/, "device"],
  [/^\/request$/, "par"],
  [/^\/jwks$/, "jwks"],
  [/^\/me$/, "userinfo"],
  [/^\/session\/end/, "logout"],
];

/** Those of `ProtectedServer`. */
const SCOPES = ["mcp", "mcp:admin"];
const YEAR_S = 365 * 86_400;

/** May be changed while it runs. */
export interface Settings {
  /** Who logs in. */
  account: string;
  decision: "accept" | "deny";
  accessSeconds: number;
  /** Whether a login comes with a refresh token. */
  refreshTokens: boolean;
  /** Whether each refresh replaces the refresh token. The use of a replaced one ends the login. */
  rotation: boolean;
  /** Whether DPoP proofs need a nonce of the server. */
  dpopNonce: boolean;
  /** What it says about whoever logs in, beside `sub` and `email`. */
  claims: Readonly<Record<string, unknown>>;
  /** Client metadata documents by their address, which is not fetched. */
  readonly documents: Map<string, object>;
  /** The scopes of each protected server, by its `resource`. */
  readonly resources: Map<string, readonly string[]>;
}

export interface AuthorizationServerOptions extends Partial<Omit<Settings, "documents" | "resources">> {
  readonly clients?: readonly ClientMetadata[];
  readonly registration?: boolean;
  /** The scopes that it lists, besides those of OpenID. A client can be registered for no others. */
  readonly scopes?: readonly string[];
  /** Whether it refuses authorization requests that were not pushed (RFC 9126). */
  readonly requirePushed?: boolean;
  /** Whether one can log out there, and it tells its clients so. */
  readonly logout?: boolean;
}

export interface AuthorizationServer extends Issuer {
  readonly settings: Settings;
  readonly storage: GrantStorage;
}

export async function startAuthorizationServer(options: AuthorizationServerOptions = {}): Promise<AuthorizationServer> {
  const {
    clients = [],
    registration = true,
    requirePushed = false,
    scopes = SCOPES,
    logout = false,
    ...given
  } = options;
  const front = await Front.open(ROUTES);
  const storage = new GrantStorage();
  const settings: Settings = {
    account: "alice",
    decision: "accept",
    accessSeconds: 3600,
    refreshTokens: true,
    rotation: true,
    dpopNonce: false,
    claims: {},
    ...given,
    documents: new Map(),
    resources: new Map(),
  };
  const { Provider: Implementation, errors } = await importProvider();
  const { InvalidTarget } = errors;
  const provider = new Implementation(
    front.url,
    await configure({ settings, storage, clients, registration, requirePushed, scopes, logout, InvalidTarget }),
  );
  const answer = provider.callback();
  const server = createServer((request, response) => {
    if (request.url?.startsWith("/interaction/") === true) void interact(provider, settings, request, response);
    else void answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  front.serve((server.address() as AddressInfo).port);
  return {
    issuer: front.url,
    front,
    settings,
    storage,
    approve: (browser, url, until) => browser.open(url, until),
    close: async () => {
      await front.close();
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Without its warning about Node 20, on which all that the tests use works. */
async function importProvider(): Promise<typeof import("oidc-provider")> {
  const warn = vi.spyOn(console, "warn").mockReturnValue();
  try {
    return await import("oidc-provider");
  } finally {
    warn.mockRestore();
  }
}

type Parts = Required<
  Pick<AuthorizationServerOptions, "clients" | "registration" | "requirePushed" | "scopes" | "logout">
> & {
  readonly settings: Settings;
  readonly storage: GrantStorage;
  readonly InvalidTarget: typeof errors.InvalidTarget;
};

async function configure(parts: Parts): Promise<Configuration> {
  const { settings, storage, clients, registration, requirePushed, scopes: listed, logout, InvalidTarget } = parts;
  return {
    adapter: (name) => storage.adapter(name),
    clients: [...clients],
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "groups"] },
    cookies: { keys: [randomBytes(16).toString("hex")] },
    jwks: { keys: [await signingKey()] },
    fetch: async (url, options) => {
      // What it tells its clients; its own guard keeps it from addresses of this machine.
      if (options?.method === "POST") return fetch(url, { method: "POST", body: options.body ?? null });
      const document = settings.documents.get(new Request(url).url);
      return document === undefined ? new Response(null, { status: 404 }) : Response.json(document);
    },
    findAccount: (_, sub) => ({
      accountId: sub,
      claims: () => ({ sub, email: `${sub}@example.com`, ...settings.claims }),
    }),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      clientIdMetadataDocument: { enabled: true, ack: "draft-02" },
      deviceFlow: {
        enabled: true,
        userCodeInputSource: async (ctx, form) => void (ctx.body = form),
        userCodeConfirmSource: async (ctx, form) => void (ctx.body = form),
        successSource: async (ctx) => void (ctx.body = "connected"),
      },
      dPoP: { enabled: true, nonceSecret: randomBytes(32), requireNonce: () => settings.dpopNonce },
      introspection: { enabled: true, allowedPolicy: async () => true },
      pushedAuthorizationRequests: { enabled: true, requirePushedAuthorizationRequests: requirePushed },
      registration: { enabled: registration },
      registrationManagement: { enabled: registration },
      revocation: { enabled: true, allowedPolicy: async () => true },
      backchannelLogout: { enabled: logout },
      rpInitiatedLogout: { enabled: logout },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: async (_, resource) => {
          const scopes = settings.resources.get(resource);
          if (scopes === undefined) throw new InvalidTarget();
          const token = { accessTokenFormat: "jwt", jwt: { sign: { alg: "ES256" } } } as const;
          return { ...token, scope: scopes.join(" "), audience: resource, accessTokenTTL: settings.accessSeconds };
        },
      },
    },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    issueRefreshToken: async (_, client) => settings.refreshTokens && client.grantTypeAllowed("refresh_token"),
    rotateRefreshToken: () => settings.rotation,
    scopes: ["openid", "email", "profile", "offline_access", ...listed],
    ttl: {
      AccessToken: () => settings.accessSeconds,
      ClientCredentials: () => settings.accessSeconds,
      DeviceCode: 600,
      Grant: YEAR_S,
      IdToken: 3600,
      Interaction: 3600,
      RefreshToken: YEAR_S,
      Session: YEAR_S,
    },
  };
}

async function signingKey() {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  return { ...(await exportJWK(privateKey)), alg: "ES256", use: "sig", kid: "test" };
}

/** Logs in and consents to all that is asked for, or refuses. */
async function interact(
  provider: Provider,
  { account, decision }: Settings,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (decision === "deny") {
    const refused = { error: "access_denied", error_description: "The user refused." };
    return provider.interactionFinished(request, response, refused, { mergeWithLastSubmission: false });
  }
  const { params } = await provider.interactionDetails(request, response);
  const grant = new provider.Grant({ accountId: account, clientId: String(params["client_id"]) });
  const scope = typeof params["scope"] === "string" ? params["scope"] : "";
  grant.addOIDCScope(scope);
  if (typeof params["resource"] === "string") grant.addResourceScope(params["resource"], scope);
  const consent = { grantId: await grant.save() };
  await provider.interactionFinished(request, response, { login: { accountId: account }, consent });
}
