// The life of a login through the built hub, with three implementations of an authorization server.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startAuthorizationServer } from "../support/oauth/authorization-server.ts";
import { python, startFastMcp } from "../support/oauth/fastmcp.ts";
import { isGlewlwydInstalled, startGlewlwyd } from "../support/oauth/glewlwyd.ts";
import { liveThrough, type Place } from "../support/oauth/login-story.ts";
import { OAuthHub } from "../support/oauth/oauth-hub.ts";
import { ProtectedServer } from "../support/oauth/protected-server.ts";

const oidcProvider = async (): Promise<Place> => {
  const issuer = await startAuthorizationServer();
  const server = await ProtectedServer.open([issuer.issuer]);
  issuer.settings.resources.set(server.url, server.allScopes);
  return { url: server.url, issuer, close: () => server.close() };
};

const glewlwyd = async (): Promise<Place> => {
  const server = await ProtectedServer.open([], { toolScopes: {} });
  const issuer = await startGlewlwyd("mcp", [server.url]);
  server.settings.issuers = [issuer.issuer];
  return { url: server.url, issuer, close: () => server.close() };
};

const fastMcp = async (): Promise<Place> => {
  const issuer = await startFastMcp();
  return { url: issuer.url, issuer, close: async () => undefined };
};

describe("a server behind an authorization server", () => {
  let hub: OAuthHub;
  beforeAll(async () => {
    hub = await OAuthHub.open();
  });
  afterAll(() => hub.close());

  const PLACES = [
    ["oidc-provider", true, oidcProvider],
    ["Glewlwyd", isGlewlwydInstalled, glewlwyd],
    ["FastMCP", python.kind === "found", fastMcp],
  ] as const;

  for (const [name, isThere, open] of PLACES) {
    it.runIf(isThere)(`AU-1 is used after one login at ${name}, also after a restart, until the logout`, async () => {
      const place = await open();
      try {
        await expect(liveThrough(hub, place)).resolves.toBeUndefined();
      } finally {
        await place.close();
        await place.issuer.close();
      }
    });
  }
});
