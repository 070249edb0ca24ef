// Renewal of a login under faults: expiries under load, answers that are lost, kills, and an authorization server that is down.
// A login is lost only if the authorization server ends it.

import { describe, expect, it, vi } from "vitest";
import { githubError, TRANSIENT, type Fault } from "../support/oauth/front.ts";
import { useOAuth, type Protected } from "../support/oauth/protected-pair.ts";
import { canSetClock, WallClock } from "../support/wall-clock.ts";

const CALLS = 50;
/** A login that is retried is back after this, on a busy machine. */
const BACK_MS = 60_000;

const stateOf = async (hub: ReturnType<typeof useOAuth>["hub"], name: string) => (await hub().server(name)).login.state;

describe("expiry", () => {
  const { hub, protectLoggedIn } = useOAuth();
  const callMany = ({ name }: Protected) =>
    Promise.all(Array.from({ length: CALLS }, (_, n) => hub().call(name, "echo", { text: String(n) })));

  it("A15 AU-1 of a token under 50 calls leads to one refresh, and every call is answered", async () => {
    const place = await protectLoggedIn();
    for (const round of [1, 2, 3]) {
      place.server.revokeTokens();
      const answers = await callMany(place);
      expect(answers.map(({ text }) => text)).toEqual(answers.map((_, n) => String(n)));
      expect(place.issuer.front.refreshes).toHaveLength(round);
    }
    expect(await stateOf(hub, place.name)).toBe("connected");
  });

  it("A15 AU-1 short-lived tokens are renewed ahead of their expiry, so that no call is refused", async () => {
    const place = await protectLoggedIn({ accessSeconds: 4 });
    const begun = performance.now();
    while (performance.now() - begun < 6000) expect((await hub().call(place.name, "whoami")).text).toContain("alice");
    expect(place.server.authorized.filter(({ status }) => status === 401)).toEqual([]);
    expect(place.issuer.front.refreshes.length).toBeGreaterThanOrEqual(2);
  });

  it("A15 AU-1 a login without a refresh token has to be repeated, and says so at once", async () => {
    const place = await protectLoggedIn({ refreshTokens: false });
    expect((await hub().server(place.name)).login).toMatchObject({ state: "connected", renewable: false });
    place.server.revokeTokens();
    expect((await hub().call(place.name, "whoami")).error).toMatchObject({ kind: "LoginExpired" });
    expect(await hub().logIn(place.name, place.issuer)).toMatchObject({ state: "completed" });
    expect((await hub().call(place.name, "whoami")).text).toContain("alice");
  });
});

describe("a call that is open while the server begins to refuse the login", () => {
  const { hub, protectLoggedIn } = useOAuth();

  /** A call that the server holds, and others that find out in the meantime that the login has ended. */
  async function callDuringTheEnd(stage: "received" | "accepted") {
    const { name, server } = await protectLoggedIn({ refreshTokens: false });
    const hold = server.hold("the open call", stage);
    const call = hub().call(name, "echo", { text: "the open call" });
    await hold.reached;
    server.revokeTokens();
    expect((await hub().call(name, "whoami")).error).toMatchObject({ kind: "LoginExpired" });
    await hub().untilState(name, "unauthenticated");
    hold.release();
    return call;
  }

  it("A16 AU-1 returns its result if the server has accepted it", async () => {
    expect(await callDuringTheEnd("accepted")).toMatchObject({ text: "the open call" });
  });

  it("A16 AU-1 fails with LoginExpired if the server refuses it", async () => {
    expect((await callDuringTheEnd("received")).error).toMatchObject({ kind: "LoginExpired" });
  });
});

describe("a refresh whose answer is lost", () => {
  const { hub, protectLoggedIn } = useOAuth();

  it("A16 AU-1 is repeated, and succeeds where the authorization server has a leeway", async () => {
    const place = await protectLoggedIn();
    place.issuer.storage.graceMs = 3_600_000;
    place.issuer.front.fail("token", { do: "lose" }, 1);
    place.server.revokeTokens();
    await hub().call(place.name, "whoami");
    await vi.waitFor(async () => expect((await hub().call(place.name, "whoami")).text).toContain("alice"), {
      timeout: BACK_MS,
      interval: 200,
    });
    expect(await stateOf(hub, place.name)).toBe("connected");
  });

  it("A16 AU-1 ends the login where there is none: the hub says so and a new login helps", async () => {
    const place = await protectLoggedIn();
    place.issuer.front.fail("token", { do: "lose" }, 1);
    place.server.revokeTokens();
    await hub().call(place.name, "whoami");
    await vi.waitUntil(async () => (await stateOf(hub, place.name)) === "needs_login", {
      timeout: BACK_MS,
      interval: 200,
    });
    expect((await hub().call(place.name, "whoami")).error).toMatchObject({ kind: "LoginExpired" });
    expect(await hub().logIn(place.name, place.issuer)).toMatchObject({ state: "completed" });
  });

  it.each([
    ["before the authorization server sees it", "before", 0],
    ["after the authorization server has worked on it, with a leeway", "after", 3_600_000],
  ] as const)("A16 AU-1 by a kill %s does not cost the login", async (_, when, graceMs) => {
    const place = await protectLoggedIn();
    place.issuer.storage.graceMs = graceMs;
    const hold = place.issuer.front.hold("token", when);
    place.server.revokeTokens();
    const call = hub()
      .call(place.name, "whoami")
      .catch(() => undefined);
    await hold.reached;
    await hub().running.kill();
    hold.release();
    await hub().restart("kill");
    await call;
    await vi.waitFor(async () => expect((await hub().call(place.name, "whoami")).text).toContain("alice"), {
      timeout: BACK_MS,
      interval: 200,
    });
    expect(await stateOf(hub, place.name)).toBe("connected");
  });
});

describe("an authorization server that is in trouble", () => {
  const clock = new WallClock();
  const { hub, protectLoggedIn } = useOAuth(canSetClock ? { env: clock.env } : {});

  it.each(Object.entries<Fault>(TRANSIENT))("A17 AU-1 with %s keeps the login", async (_, fault) => {
    const place = await protectLoggedIn();
    place.issuer.front.fail("token", fault);
    place.server.revokeTokens();
    const answer = await hub().call(place.name, "whoami");
    expect(answer.error).toMatchObject({ code: "NETWORK_ERROR" });
    expect((await hub().server(place.name)).login).toMatchObject({ state: "retrying" });
    place.issuer.front.heal();
    await vi.waitFor(async () => expect((await hub().call(place.name, "whoami")).text).toContain("alice"), {
      timeout: BACK_MS,
      interval: 200,
    });
    expect(await stateOf(hub, place.name)).toBe("connected");
    expect(place.issuer.front.of("authorize").length).toBeLessThanOrEqual(2);
  });

  it("A17 AU-1 an error with status 200 is an error: the login is over", async () => {
    const place = await protectLoggedIn();
    place.issuer.front.fail("token", githubError("bad_refresh_token"));
    place.server.revokeTokens();
    const { error, text } = await hub().call(place.name, "whoami");
    expect([text, error?.code]).toEqual([undefined, "UNAUTHENTICATED"]);
  });

  it("A17 AU-1 calls go on while the token is valid", async () => {
    const place = await protectLoggedIn();
    place.issuer.front.fail("token", TRANSIENT["503"]);
    expect((await hub().api("POST", `/servers/${place.name}/login/refresh`)).status).toBeGreaterThanOrEqual(500);
    expect((await hub().call(place.name, "whoami")).text).toContain("alice");
    expect(await stateOf(hub, place.name)).toBe("retrying");
  });

  it.each([
    ["the token endpoint", ["token"]],
    ["all of the authorization server", ["metadata", "token"]],
  ] as const)("A17 AU-1 without %s, calls are told when to try again, and no circuit opens", async (_, endpoints) => {
    const place = await protectLoggedIn({ entry: { resilience: { breaker_failures: 3 } } });
    for (const endpoint of endpoints) place.issuer.front.fail(endpoint, TRANSIENT["503"]);
    place.server.revokeTokens();
    for (let call = 0; call < 8; call++) {
      const { error } = await hub().call(place.name, "whoami");
      expect(error).toMatchObject({ kind: "ConnectionFailed", retry_after_ms: expect.any(Number) });
    }
    expect(await hub().server(place.name)).toMatchObject({ circuit: "closed", login: { state: "retrying" } });
    expect(place.server.calls).toEqual([]);
    place.issuer.front.heal();
    // Without a further call: the hub tries again by itself.
    await vi.waitUntil(async () => (await stateOf(hub, place.name)) === "connected", {
      timeout: BACK_MS,
      interval: 100,
    });
    expect((await hub().call(place.name, "whoami")).text).toContain("alice");
  });

  it.runIf(canSetClock)("A17 F40 AU-1 a day of outage costs calls, not the login", async () => {
    const place = await protectLoggedIn();
    place.issuer.front.fail("token", TRANSIENT["503"]);
    for (const hours of [1, 2, 6, 24]) {
      clock.set(`+${hours}h`);
      place.server.revokeTokens();
      expect((await hub().call(place.name, "whoami")).error).toMatchObject({ kind: "ConnectionFailed" });
      expect(await stateOf(hub, place.name)).toBe("retrying");
    }
    place.issuer.front.heal();
    await vi.waitFor(async () => expect((await hub().call(place.name, "whoami")).text).toContain("alice"), {
      timeout: BACK_MS,
      interval: 200,
    });
    clock.set("+0");
    expect((await hub().call(place.name, "whoami")).text).toContain("alice");
  });
});
