// Attacks on the way back from the authorization server: codes, states and issuers that do not belong together.

import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { Browser } from "../support/oauth/browser.ts";
import { isCallback } from "../support/oauth/oauth-hub.ts";
import { useOAuth, type Protected } from "../support/oauth/protected-pair.ts";
import { http } from "../support/rpc.ts";
import { scaled } from "../support/scale.ts";

const { hub, protect } = useOAuth();
const GUESSES = scaled(1000, 10_000);

/** Begins a login, and goes as far as the address with the code, which is not opened. */
async function untilCode({ name, issuer }: Protected): Promise<{ id: string; callback: URL }> {
  const { id, url } = await hub().begin(name);
  const { url: callback } = await issuer.approve(new Browser(), url, isCallback);
  return { id, callback: new URL(callback) };
}

function withQuery(url: URL, changes: Readonly<Record<string, string | undefined>>): string {
  const changed = new URL(url);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) changed.searchParams.delete(name);
    else changed.searchParams.set(name, value);
  }
  return changed.href;
}

const value = ({ searchParams }: URL, name: string) => searchParams.get(name) ?? "";
const tokenRequests = (...places: readonly Protected[]) =>
  places.map(({ issuer }) => issuer.front.of("token").length).reduce((sum, count) => sum + count, 0);

describe("a callback", () => {
  it("A03 AU-1 with the code of one authorization server and the state of another leads to no token request", async () => {
    const [honest, evil] = [await protect(), await protect()];
    const [ours, theirs] = [await untilCode(honest), await untilCode(evil)];
    const mixed = withQuery(ours.callback, { code: value(theirs.callback, "code"), iss: evil.issuer.issuer });
    await hub().visit(mixed);
    expect(await hub().ended(ours.id)).toMatchObject({ state: "failed", error: { kind: "LoginFailed" } });
    expect(tokenRequests(honest, evil)).toBe(0);
    expect(honest.server.authorized).toEqual([]);
  });

  it.each([
    ["of another issuer", () => "http://127.0.0.1:1"],
    ["that differs by a slash", (issuer: string) => `${issuer}/`],
    ["that is missing although it is announced", () => undefined],
  ])("A03 AU-1 with an iss %s leads to no token request", async (_, iss) => {
    const place = await protect();
    const { id, callback } = await untilCode(place);
    await hub().visit(withQuery(callback, { iss: iss(place.issuer.issuer) }));
    expect(await hub().ended(id)).toMatchObject({ state: "failed", error: { kind: "LoginFailed" } });
    expect(tokenRequests(place)).toBe(0);
  });

  it("A03 AU-1 an error is not shown if its issuer is wrong", async () => {
    const place = await protect({ decision: "deny" });
    const { id, callback } = await untilCode(place);
    const forged = { iss: "http://127.0.0.1:1", error_description: "call this number" };
    const page = await hub().visit(withQuery(callback, forged));
    expect(page.text).not.toContain("call this number");
    expect(JSON.stringify(await hub().ended(id))).not.toContain("call this number");
  });

  it("A04 AU-1 works once: the same address again is unknown, and the code is sent once", async () => {
    const place = await protect();
    const { id, callback } = await untilCode(place);
    const code = value(callback, "code");
    expect((await hub().visit(callback.href)).status).toBe(200);
    const again = await hub().visit(callback.href);
    expect(again.status).toBe(400);
    expect(again.text).not.toContain(code);
    expect(await hub().ended(id)).toMatchObject({ state: "completed" });
    expect(place.issuer.front.grants("authorization_code").map(({ form }) => form.get("code"))).toEqual([code]);
    expect((await hub().call(place.name, "whoami")).text).toContain("alice");
  });

  it("A04 AU-1 two at the same moment send the code once", async () => {
    const place = await protect();
    const { id, callback } = await untilCode(place);
    await Promise.all(Array.from({ length: 5 }, () => hub().visit(callback.href)));
    expect(await hub().ended(id)).toMatchObject({ state: "completed" });
    expect(place.issuer.front.grants("authorization_code")).toHaveLength(1);
  });

  it("A04 AU-1 pasted into another login is refused, and that login goes on", async () => {
    const [first, second] = [await protect(), await protect()];
    const [one, other] = [await untilCode(first), await untilCode(second)];
    const { status } = await hub().api("POST", `/logins/${other.id}/callback`, { url: one.callback.href });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(tokenRequests(first, second)).toBe(0);
    await hub().visit(other.callback.href);
    expect(await hub().ended(other.id)).toMatchObject({ state: "completed" });
  });

  it(`A28 AU-1 ${GUESSES} guessed states find no login, and ask nobody`, async () => {
    const place = await protect();
    const { id, callback } = await untilCode(place);
    const asked = tokenRequests(place);
    const guess = async () => {
      const state = randomBytes(32).toString("base64url");
      const { status } = await http(withQuery(callback, { state }), { method: "GET" });
      expect(status).toBe(400);
    };
    for (let n = 0; n < GUESSES; n += 50) await Promise.all(Array.from({ length: 50 }, guess));
    expect(tokenRequests(place)).toBe(asked);
    await hub().visit(callback.href);
    expect(await hub().ended(id)).toMatchObject({ state: "completed" });
  });

  it("A04 AU-1 with a guessed, empty or missing state says nothing and asks nobody", async () => {
    const place = await protect();
    const { id, callback } = await untilCode(place);
    const state = value(callback, "state");
    const guesses = [undefined, "", "x", state.slice(0, -1), `${state}x`, state.toUpperCase(), "x".repeat(100_000)];
    for (const guess of guesses) {
      const page = await hub().visit(withQuery(callback, { state: guess }));
      expect([guess, page.status]).toEqual([
        guess,
        guess !== undefined && guess.length > 1000 ? expect.any(Number) : 400,
      ]);
      expect(page.text).not.toContain(value(callback, "code"));
    }
    expect(tokenRequests(place)).toBe(0);
    expect((await hub().api("GET", `/logins/${id}`)).json).toMatchObject({ state: "pending" });
  });

  it("A31 AU-1 taken by another program is of no use to it without the verifier", async () => {
    const place = await protect();
    const { callback } = await untilCode(place);
    const clientId = place.issuer.front.of("authorize")[0]?.query.get("client_id") ?? "";
    const stolen = {
      grant_type: "authorization_code",
      code: value(callback, "code"),
      client_id: clientId,
      redirect_uri: `${callback.origin}${callback.pathname}`,
      resource: place.server.url,
    };
    for (const guess of [{}, { code_verifier: "x".repeat(43) }]) {
      const answer = await fetch(`${place.issuer.issuer}/token`, {
        method: "POST",
        body: new URLSearchParams({ ...stolen, ...guess }),
      });
      expect([answer.status, await answer.json()]).toEqual([400, expect.objectContaining({ error: "invalid_grant" })]);
    }
    expect(place.server.authorized).toEqual([]);
  });
});

describe("open redirects", () => {
  const EVIL = [
    "//evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "https:evil.example",
    "https://evil.example",
    "http://localhost.evil.example",
    "http://127.0.0.1.evil.example/",
    "http://localhost:1@evil.example",
    "javascript:alert(1)",
    "data:text/html,x",
    "/%2f%2fevil.example",
    "/%5cevil.example",
    "/..//evil.example",
    "/\t/evil.example",
    "%0d%0aLocation:%20https://evil.example",
  ];
  const NAMES = ["return_to", "redirect_uri", "next", "url"];
  const TARGETS = NAMES.flatMap((name) => EVIL.map((evil) => `${name}=${encodeURIComponent(evil)}`));

  it("A06 AU-1 no address in a query or path takes a browser away from the hub", async () => {
    const { name } = await protect();
    const { id } = await hub().begin(name);
    const paths = [
      ...TARGETS.flatMap((query) => [`/oauth/callback?${query}`, `/oauth/done/${id}?${query}`]),
      ...EVIL.flatMap((evil) => [`/oauth/done/${encodeURIComponent(evil)}`, `/connect/${encodeURIComponent(evil)}`]),
    ];
    for (const path of paths) {
      const { status, headers } = await http(`${hub().url}${path}`, { method: "GET" });
      const { location = hub().url } = headers;
      expect([path, new URL(location, hub().url).origin]).toEqual([path, hub().url]);
      expect([path, status]).toEqual([path, expect.toSatisfy((code: number) => code < 500)]);
    }
  });
});
