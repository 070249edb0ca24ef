// The official SDK's client, logged in at a protected server: an independent client that shows that the servers of these tests
// work by themselves.

import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientProvider,
} from "@modelcontextprotocol/client";
import { Browser } from "./browser.ts";
import type { Issuer } from "./issuer.ts";

const CALLBACK = "http://localhost:1/callback";

export interface SdkLogin {
  readonly client: Client;
  readonly clientId: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly scope: string;
}

export interface SdkLoginOptions {
  readonly revision?: string;
  /** A client id in the form of an address. */
  readonly clientMetadataUrl?: string;
}

/** Logs in at the protected server and connects to it. */
export async function sdkLogin(
  url: string,
  issuer: Pick<Issuer, "approve">,
  { revision = "2025-11-25", clientMetadataUrl }: SdkLoginOptions = {},
): Promise<SdkLogin> {
  const kept: { client?: unknown; tokens?: unknown; verifier?: string; address?: URL; found?: unknown } = {};
  const provider = {
    redirectUrl: CALLBACK,
    ...(clientMetadataUrl === undefined ? {} : { clientMetadataUrl }),
    clientMetadata: {
      redirect_uris: [CALLBACK],
      application_type: "native",
      token_endpoint_auth_method: "none",
      grant_types: ["authorization_code", "refresh_token"],
    },
    clientInformation: () => kept.client,
    saveClientInformation: (client: unknown) => void (kept.client = client),
    tokens: () => kept.tokens,
    saveTokens: (tokens: unknown) => void (kept.tokens = tokens),
    redirectToAuthorization: (address: URL) => void (kept.address = address),
    saveCodeVerifier: (verifier: string) => void (kept.verifier = verifier),
    saveDiscoveryState: (found: unknown) => void (kept.found = found),
    discoveryState: () => kept.found,
    codeVerifier: () => kept.verifier ?? "",
  } as OAuthClientProvider;
  const connect = async () => {
    const pinned = { versionNegotiation: { mode: { pin: "2026-07-28" } } } as const;
    const client = new Client({ name: "test", version: "1" }, revision >= "2026-07-28" ? pinned : {});
    const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
    return { client, transport, done: client.connect(transport) };
  };
  const first = await connect();
  await first.done.then(
    () => Promise.reject(new Error("The server needs no login")),
    (error: unknown) => (error instanceof UnauthorizedError ? undefined : Promise.reject(error as Error)),
  );
  const isCallback = (address: URL) => address.href.startsWith(CALLBACK);
  const page = await issuer.approve(new Browser(), kept.address?.href ?? "", isCallback);
  await first.transport.finishAuth(new URL(page.url).searchParams);
  const { client, done } = await connect();
  await done;
  const tokens = kept.tokens as { access_token: string; refresh_token: string; scope: string };
  return {
    client,
    clientId: (kept.client as { client_id: string } | undefined)?.client_id ?? clientMetadataUrl ?? "",
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token,
    scope: tokens.scope,
  };
}
