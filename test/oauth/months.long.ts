// Ninety days of a hub that nobody looks after: hourly tokens, refresh tokens that are replaced each time, an authorization
// server that fails now and then and loses answers, kills of the hub, and one server that is used once in a week only. The time
// of day is libfaketime's; the authorization server accepts a replaced refresh token for some time, as most do.

import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startAuthorizationServer, type AuthorizationServer } from "../support/oauth/authorization-server.ts";
import { TRANSIENT, type Fault } from "../support/oauth/front.ts";
import { OAuthHub } from "../support/oauth/oauth-hub.ts";
import { ProtectedServer } from "../support/oauth/protected-server.ts";
import { withSeed } from "../support/random.ts";
import { upTo } from "../support/scale.ts";
import { canSetClock, WallClock } from "../support/wall-clock.ts";

const FULL_HOURS = 90 * 24;
const HOURS = upTo(FULL_HOURS);
/** Fifty in ninety days. */
const KILLED = 50 / FULL_HOURS;
const FAILED = 0.02;
const LOST = 0.005;
const WEEK_HOURS = 7 * 24;
const BACK_MS = 120_000;

describe.runIf(canSetClock)("ninety days", () => {
  const clock = new WallClock();
  let issuer: AuthorizationServer;
  let hub: OAuthHub;
  const servers = new Map<string, ProtectedServer>();

  beforeAll(async () => {
    issuer = await startAuthorizationServer();
    issuer.storage.graceMs = BACK_MS;
    hub = await OAuthHub.open({ env: clock.env });
    for (const name of ["busy", "weekly"]) {
      const server = await ProtectedServer.open([issuer.issuer]);
      issuer.settings.resources.set(server.url, server.allScopes);
      servers.set(name, server);
      await hub.add(name, { url: server.url });
      expect(await hub.logIn(name, issuer)).toMatchObject({ state: "completed" });
    }
  });

  afterAll(async () => {
    await hub.close();
    for (const server of servers.values()) await server.close();
    await issuer.close();
    clock.remove();
  });

  it(`A15 A16 A17 F40 AU-1 ${HOURS} hours with kills, failures and lost answers cost no login`, () => withSeed(live));

  async function live(random: () => number): Promise<void> {
    const tally = { failed: 0, lost: 0, kills: 0, refusedCalls: 0 };
    const faults = Object.values<Fault>(TRANSIENT).filter((fault) => fault.do !== "hang");
    for (let hour = 1; hour <= HOURS; hour++) {
      clock.set(`+${hour}h`);
      for (const server of servers.values()) server.revokeTokens();
      const dice = random();
      if (dice < LOST) tally.lost++;
      else if (dice < LOST + FAILED) tally.failed++;
      const fault = faults[Math.floor(random() * faults.length)] ?? { do: "reset" };
      if (dice < LOST) issuer.front.fail("token", { do: "lose" }, 1);
      else if (dice < LOST + FAILED) issuer.front.fail("token", fault, 1);
      if (random() < KILLED) {
        tally.kills++;
        const call = hub.call("busy", "whoami").catch(() => undefined);
        await hub.restart("kill");
        await call;
      }
      await use("busy", tally);
      if (hour % WEEK_HOURS === 0) await use("weekly", tally);
    }
    const refreshes = issuer.front.refreshes.length;
    process.stdout.write(`${HOURS} hours: ${refreshes} refreshes, ${JSON.stringify(tally)}\n`);
    expect(issuer.front.grants("authorization_code")).toHaveLength(servers.size);
    await hub.check();
  }

  /** A call may have to wait; a login may not be asked for. */
  async function use(name: string, tally: { refusedCalls: number }): Promise<void> {
    const answer = await vi.waitFor(
      async () => {
        const given = await hub.call(name, "whoami");
        if (given.text !== undefined || given.error?.code === "UNAUTHENTICATED") return given;
        tally.refusedCalls++;
        throw new Error(`No answer yet: ${JSON.stringify(given)}`);
      },
      { timeout: BACK_MS, interval: 50 },
    );
    expect(answer).toMatchObject({ error: undefined, text: expect.stringContaining("alice") });
  }
});
