// The ways to a token other than registration and a browser on the same machine.

import { generateKeyPair, exportJWK, exportPKCS8 } from "jose";
import type { ClientMetadata } from "oidc-provider";
import { describe, expect, it } from "vitest";
import { Browser } from "../support/oauth/browser.ts";
import { isCallback } from "../support/oauth/oauth-hub.ts";
import { useOAuth } from "../support/oauth/protected-pair.ts";

const { hub, protect, protectLoggedIn } = useOAuth();

/** A client that was registered by hand. */
const NATIVE: ClientMetadata = {
  client_id: "known-in-advance",
  application_type: "native",
  redirect_uris: ["http://localhost/oauth/callback"],
  grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
};
const SECRET = "planted~secret:of the client";

describe("a person", () => {
  it("AU-1 uses a client that was registered by hand, with its secret", async () => {
    const { name, server, issuer } = await protectLoggedIn({
      clients: [{ ...NATIVE, client_secret: SECRET, token_endpoint_auth_method: "client_secret_basic" }],
      registration: false,
      entry: { auth: { client_id: NATIVE.client_id, client_secret: SECRET } },
    });
    expect((await hub().call(name, "whoami")).text).toContain("alice");
    expect(issuer.front.of("register")).toEqual([]);
    expect(server.calls).toEqual(["whoami"]);
    hub().outputs.add("config", JSON.stringify((await hub().server(name)).config));
    expect(hub().outputs.hits({ secret: SECRET })).toEqual([]);
  });

  it("AU-1 is told that the server needs a client id, and gives one for this login", async () => {
    const { name, issuer } = await protect({
      clients: [{ ...NATIVE, token_endpoint_auth_method: "none" }],
      registration: false,
    });
    const { status, json } = await hub().api("POST", `/servers/${name}/login`, {});
    expect([status, json.kind]).toEqual([409, "ClientIdRequired"]);
    expect(json.hint).toContain("--client-id");
    const ended = await hub().logIn(name, issuer, { client_id: NATIVE.client_id });
    expect(ended).toMatchObject({ state: "completed" });
    expect((await hub().call(name, "whoami")).text).toContain("alice");
  });

  it("AU-1 uses a client metadata document where the authorization server takes one", async () => {
    const address = "https://client.example/client.json";
    const { name, issuer } = await protect({ entry: { auth: { client_metadata_url: address } } });
    issuer.settings.documents.set(address, {
      client_id: address,
      client_name: "hub",
      application_type: "native",
      redirect_uris: ["http://localhost/oauth/callback"],
      grant_types: ["authorization_code", "refresh_token"],
      token_endpoint_auth_method: "none",
    });
    expect(await hub().logIn(name, issuer)).toMatchObject({ state: "completed" });
    expect((await hub().call(name, "whoami")).text).toContain("alice");
    expect(issuer.front.of("register")).toEqual([]);
    expect(issuer.front.of("authorize")[0]?.query.get("client_id")).toBe(address);
  });

  it("AU-1 refuses at the authorization server: the login has failed and the server still needs one", async () => {
    const { name, issuer } = await protect({ decision: "deny" });
    const ended = await hub().logIn(name, issuer);
    expect(ended).toMatchObject({ state: "failed", error: { kind: "LoginFailed" } });
    expect(JSON.stringify(ended.error)).toContain("access_denied");
    expect(issuer.front.of("token")).toEqual([]);
    expect((await hub().server(name)).login).toMatchObject({ state: "needs_login" });
  });

  it("AU-1 pastes the address at which a browser elsewhere ended", async () => {
    const { name, issuer } = await protect();
    const { id, url } = await hub().begin(name);
    const page = await issuer.approve(new Browser(), url, isCallback);
    const { status } = await hub().api("POST", `/logins/${id}/callback`, { url: page.url });
    expect(status).toBeLessThan(300);
    expect(await hub().ended(id)).toMatchObject({ state: "completed" });
    expect((await hub().call(name, "whoami")).text).toContain("alice");
  });

  it("AU-1 enters a code on another device", async () => {
    const { name } = await protect({
      clients: [{ ...NATIVE, token_endpoint_auth_method: "none" }],
      entry: { auth: { client_id: NATIVE.client_id } },
    });
    const {
      id,
      user_code: code,
      verification_uri_complete: address = "",
    } = await hub().begin(name, { flow: "device" });
    expect(code).toMatch(/^\S{4,}$/);
    const browser = new Browser();
    await browser.submit(await browser.submit(await browser.open(address)), { confirm: "yes" });
    expect(await hub().ended(id)).toMatchObject({ state: "completed" });
    expect((await hub().call(name, "whoami")).text).toContain("alice");
  });

  it("AU-1 has the request pushed to an authorization server that wants it", async () => {
    const { name, issuer } = await protectLoggedIn({ requirePushed: true });
    expect((await hub().call(name, "whoami")).text).toContain("alice");
    expect(issuer.front.of("par").map(({ answer }) => answer?.status)).toEqual([201]);
    const [authorize] = issuer.front.of("authorize");
    expect([...(authorize?.query.keys() ?? [])].toSorted()).toEqual(["client_id", "request_uri"]);
  });

  it("AU-1 logs in at a server that wants tokens bound to a key, with a nonce of the authorization server", async () => {
    const { name, server, issuer } = await protectLoggedIn({ dpopNonce: true, settings: { dpop: true } });
    for (let count = 0; count < 3; count++) expect((await hub().call(name, "whoami")).text).toContain("alice");
    const proofs = server.authorized.map(({ headers }) => headers["dpop"]);
    expect(new Set(proofs).size).toBe(proofs.length);
    server.revokeTokens();
    expect((await hub().call(name, "whoami")).text).toContain("alice");
    expect(issuer.front.refreshes.map(({ answer }) => answer?.status)).toContain(200);
  });
});

describe("a machine", () => {
  const MACHINE = { client_id: "machine", redirect_uris: [], response_types: [], grant_types: ["client_credentials"] };

  it("AU-2 uses client credentials, and gets a new token when the old one is refused", async () => {
    const { name, server, issuer } = await protect({
      clients: [{ ...MACHINE, client_secret: SECRET }],
      entry: { auth: { type: "client_credentials", client_id: "machine", client_secret: SECRET } },
    });
    expect(await hub().server(name)).toMatchObject({ status: "running", login: { state: "connected" } });
    expect((await hub().call(name, "whoami")).isError).toBe(false);
    server.revokeTokens();
    expect((await hub().call(name, "whoami")).isError).toBe(false);
    expect(issuer.front.grants("client_credentials")).toHaveLength(2);
    expect(issuer.front.of("authorize")).toEqual([]);
  });

  it("AU-2 signs an assertion with its key", async () => {
    const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
    const { name, issuer } = await protect({
      clients: [
        {
          ...MACHINE,
          token_endpoint_auth_method: "private_key_jwt",
          token_endpoint_auth_signing_alg: "ES256",
          jwks: { keys: [{ ...(await exportJWK(publicKey)), use: "sig" }] },
        },
      ],
      entry: {
        auth: {
          type: "private_key_jwt",
          client_id: "machine",
          key: await exportPKCS8(privateKey),
          algorithm: "ES256",
        },
      },
    });
    expect((await hub().call(name, "whoami")).isError).toBe(false);
    expect(issuer.front.grants("client_credentials")[0]?.form.get("client_assertion")).toMatch(/^ey/);
  });

  it("AU-2 with a wrong secret is told so, and no person is asked to log in", async () => {
    const { name } = await protect({
      clients: [{ ...MACHINE, client_secret: SECRET }],
      entry: { auth: { type: "client_credentials", client_id: "machine", client_secret: "wrong" } },
    });
    const { status, error } = await hub().server(name);
    expect(status).toBe("unauthenticated");
    expect(error).toMatchObject({ kind: "Unauthenticated" });
    expect((await hub().api("POST", `/servers/${name}/login`, {})).status).toBe(400);
  });
});
