// Scopes: what is asked for at first, and more only where a call needs it.

import { describe, expect, it } from "vitest";
import { useOAuth, type Protected } from "../support/oauth/protected-pair.ts";

const { hub, protect, protectLoggedIn } = useOAuth();

/** Listed by oidc-provider, and asked for to get a refresh token. */
const OFFLINE = "offline_access";

const scopesAsked = ({ issuer }: Protected) =>
  issuer.front
    .of("authorize")
    .flatMap(({ query }) => query.get("scope") ?? [])
    .map((scope) => scope.split(" ").toSorted());

describe("scopes", () => {
  it("A34 AU-1 the first login asks for what the challenge names, not for all that the server knows", async () => {
    const place = await protectLoggedIn();
    expect(scopesAsked(place)).toEqual([["mcp", OFFLINE]]);
  });

  it("A34 AU-1 without a scope in the challenge it asks for those of the metadata", async () => {
    const place = await protectLoggedIn({ settings: { scopes: [] } });
    expect(scopesAsked(place)).toEqual([["mcp:admin", OFFLINE]]);
  });

  it("A34 AU-1 scopes of the entry win", async () => {
    const place = await protectLoggedIn({ entry: { auth: { scopes: ["mcp", "openid", "email"] } } });
    expect(scopesAsked(place)).toEqual([["email", "mcp", OFFLINE, "openid"]]);
    expect((await hub().server(place.name)).login).toMatchObject({ account: "alice@example.com" });
  });

  it("A34 AU-1 scopes that the authorization server does not list prevent no registration", async () => {
    const { name, issuer } = await protectLoggedIn({ scopes: [] });
    expect((await hub().call(name, "whoami")).text).toContain("alice");
    expect(issuer.front.of("register").map(({ answer }) => answer?.status)).toEqual([400, 201]);
  });

  it("A34 AU-1 a call that needs more is told so, one login adds exactly that, and other calls go on meanwhile", async () => {
    const place = await protectLoggedIn();
    const { name, server } = place;
    const refused = await hub().call(name, "admin");
    expect(refused.error).toMatchObject({ kind: "ScopeRequired", login_url: expect.stringContaining("/connect/") });
    expect((await hub().call(name, "whoami")).text).toContain("alice");
    expect(await hub().logIn(name, place.issuer)).toMatchObject({ state: "completed" });
    expect(scopesAsked(place)).toEqual([
      ["mcp", OFFLINE],
      ["mcp", "mcp:admin", OFFLINE],
    ]);
    expect((await hub().call(name, "admin")).text).toBe("done");
    expect(server.calls).toEqual(["whoami", "admin"]);
    // A refresh keeps them.
    server.revokeTokens();
    expect((await hub().call(name, "admin")).text).toBe("done");
    expect(scopesAsked(place)).toHaveLength(2);
  });

  it("A34 AU-1 a server that is never content is not asked about again and again", async () => {
    const place = await protect({ scopes: ["mcp"] });
    expect(await hub().logIn(place.name, place.issuer)).toMatchObject({ state: "completed" });
    const kinds: (string | undefined)[] = [];
    for (let count = 0; count < 4; count++) {
      const { error } = await hub().call(place.name, "admin");
      kinds.push(error?.kind);
      if (error?.kind === "ScopeRequired") await hub().logIn(place.name, place.issuer);
    }
    expect(scopesAsked(place).length).toBeLessThanOrEqual(3);
    expect(kinds[3]).not.toBe("ScopeRequired");
  });
});
