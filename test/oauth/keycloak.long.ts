// The life of a login at Keycloak, the identity provider that most companies have. It takes minutes to start.

import { afterAll, beforeAll, expect, it } from "vitest";
import { prepareKeycloak, startKeycloak } from "../support/oauth/keycloak.ts";
import { liveThrough } from "../support/oauth/login-story.ts";
import { OAuthHub } from "../support/oauth/oauth-hub.ts";
import { ProtectedServer } from "../support/oauth/protected-server.ts";

const CLIENT = "plugboard";

const reason = await prepareKeycloak();
if (reason !== undefined) process.stderr.write(`Tests with Keycloak are skipped: ${reason}\n`);

let hub: OAuthHub;
beforeAll(async () => {
  hub = await OAuthHub.open();
});
afterAll(() => hub.close());

it.runIf(reason === undefined)("AU-1 a login at Keycloak, with a client that was registered by hand", async () => {
  const server = await ProtectedServer.open([], {
    toolScopes: {},
    tokenType: "JWT",
    keysOf: (issuer) => `${issuer}/protocol/openid-connect/certs`,
  });
  const issuer = await startKeycloak(CLIENT, server.url);
  server.settings.issuers = [issuer.issuer];
  try {
    // Its registration is closed: the hub asks for a client id.
    await hub.add("closed", { url: server.url });
    const { json } = await hub.api("POST", "/servers/closed/login", {});
    expect(json).toMatchObject({ kind: "ClientIdRequired" });
    await hub.remove("closed");
    const auth = { client_id: CLIENT };
    // It lists offline_access, and refuses it to this user: the next login does without.
    await hub.add("first", { url: server.url, auth });
    expect(await hub.logIn("first", issuer)).toMatchObject({
      state: "failed",
      error: { detail: expect.stringContaining("not_allowed"), hint: expect.stringContaining("plugboard auth first") },
    });
    expect(await hub.logIn("first", issuer)).toMatchObject({ state: "completed" });
    await hub.remove("first");
    issuer.front.passed.length = 0;
    await expect(liveThrough(hub, { url: server.url, issuer, auth, close: async () => {} })).resolves.toBeUndefined();
  } finally {
    await server.close();
    await issuer.close();
  }
});
