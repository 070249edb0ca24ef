// Credentials go where they belong and nowhere else: neither from clients to servers, nor from one server to another, nor into
// anything that the hub says.

import { describe, expect, it } from "vitest";
import { useOAuth } from "../support/oauth/protected-pair.ts";
import { connect, http, modern } from "../support/rpc.ts";
import { ProtectedServer } from "../support/oauth/protected-server.ts";

const { hub, protect, protectLoggedIn, closeLater } = useOAuth();

describe("credentials of a client", () => {
  it("A02 AU-1 do not reach a server, in whichever place they come", async () => {
    const { name, server } = await protectLoggedIn();
    const planted = {
      authorization: "Bearer planted-bearer-1f3a",
      cookie: "session=planted-cookie-2b4c",
      dpop: "planted-dpop-3c5d",
      "x-api-key": "planted-key-4d6e",
      "proxy-authorization": "Basic planted-proxy-5e7f",
    };
    server.received.length = 0;
    const params = { name: `${name}:whoami`, arguments: {} };
    await modern(`${hub().url}/mcp?access_token=planted-query-6f80`, "tools/call", params, planted);
    const session = await connect(`${hub().url}/mcp`, "2025-11-25", undefined, {}, planted.authorization);
    await session.request("tools/call", params);
    expect(server.calls).toEqual(["whoami", "whoami"]);
    expect(JSON.stringify(server.received)).not.toContain("planted-");
    for (const { headers } of server.authorized) expect(headers.authorization).toMatch(/^Bearer ey/);
  });
});

describe("the token of one server", () => {
  it("A21 AU-1 is never sent to another server, also if both have one authorization server", async () => {
    const first = await protectLoggedIn();
    const other = await ProtectedServer.open([first.issuer.issuer]);
    first.issuer.settings.resources.set(other.url, other.allScopes);
    closeLater(other);
    await hub().add("other", { url: other.url });
    try {
      expect((await hub().call("other", "whoami")).error).toMatchObject({ kind: "LoginRequired" });
      expect(other.authorized).toEqual([]);
      expect(await hub().logIn("other", first.issuer)).toMatchObject({ state: "completed" });
      expect((await hub().call("other", "whoami")).text).toContain("alice");
      const [sent, theirs] = [other, first.server].map(({ authorized }) => authorized.map(({ headers }) => headers));
      const tokens = new Set(sent?.map(({ authorization }) => authorization));
      expect(theirs?.filter(({ authorization }) => tokens.has(authorization))).toEqual([]);
    } finally {
      await hub().remove("other");
    }
  });

  it("A21 AU-1 is not sent to the address that its entry gets later", async () => {
    const { name, issuer } = await protectLoggedIn();
    const other = await ProtectedServer.open([issuer.issuer]);
    closeLater(other);
    await hub().api("PUT", `/servers/${name}`, { name, url: other.url, enabled: true });
    await hub().untilState(name, "unauthenticated");
    expect((await hub().call(name, "whoami")).error).toMatchObject({ kind: "LoginRequired" });
    expect(other.received.length).toBeGreaterThan(0);
    expect(other.authorized).toEqual([]);
  });

  it("A21 AU-1 is gone with its entry: one of the same name begins without a login", async () => {
    const { name, server } = await protectLoggedIn();
    await hub().remove(name);
    server.received.length = 0;
    await hub().add(name, { url: server.url });
    expect((await hub().call(name, "whoami")).error).toMatchObject({ kind: "LoginRequired" });
    expect(server.authorized).toEqual([]);
  });
});

describe("what the hub says", () => {
  it("A20 T12 AU-1 has no credential that an authorization server repeats in its errors", async () => {
    const { name, issuer } = await protect();
    issuer.front.fail("token", { do: "echo", status: 400, error: "invalid_grant" });
    const failed = await hub().logIn(name, issuer);
    expect(failed).toMatchObject({ state: "failed" });
    issuer.front.fail("register", { do: "echo", status: 400, error: "invalid_client_metadata" });
    await hub().api("POST", `/servers/${name}/login`, {});
    expect(await hub().command("auth", "show", name, "--json")).toMatchObject({ stderr: expect.any(String) });
    await hub().command("doctor");
    expect(issuer.front.of("token")[0]?.answer?.body).toContain(issuer.front.of("token")[0]?.form.get("code"));
  });

  it("A20 T12 AU-1 has no credential of a login, a renewal and a logout", async () => {
    const { name, issuer, server } = await protectLoggedIn();
    await hub().call(name, "whoami");
    server.revokeTokens();
    await hub().call(name, "whoami");
    issuer.front.fail("token", { do: "echo", status: 400, error: "invalid_grant" });
    server.revokeTokens();
    await hub().call(name, "whoami");
    for (const args of [["auth"], ["auth", "show", name], ["ls", "--json"], ["get", name, "--json"], ["status"]]) {
      await hub().command(...args);
    }
    for (const path of ["/metrics", "/readyz"]) {
      const { body } = await http(`${hub().url}${path}`, { method: "GET" });
      hub().outputs.add(path, body);
    }
    await hub().api("GET", "/logins");
    await hub().api("GET", "/calls?limit=100");
    expect(issuer.front.refreshes).toHaveLength(2);
  });
});
