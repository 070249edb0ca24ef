// The hub is killed at random moments while it renews a login. With an authorization server that accepts a replaced refresh token
// for some time the login survives every kill. Without, it is lost only if the kill fell between the answer and its storage.

import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { setTimeout as delay } from "node:timers/promises";
import { startAuthorizationServer, type AuthorizationServer } from "../support/oauth/authorization-server.ts";
import { OAuthHub } from "../support/oauth/oauth-hub.ts";
import { ProtectedServer } from "../support/oauth/protected-server.ts";
import { withSeed } from "../support/random.ts";
import { upTo } from "../support/scale.ts";

const KILLS = upTo(250);
/** A renewal takes this long at most, on an idle machine. */
const RENEWAL_MS = 60;
const BACK_MS = 60_000;
const HOUR_MS = 3_600_000;

describe.each([
  ["with a leeway", HOUR_MS],
  ["without a leeway", 0],
])("%s", (_, graceMs) => {
  let issuer: AuthorizationServer;
  let server: ProtectedServer;
  let hub: OAuthHub;

  beforeAll(async () => {
    issuer = await startAuthorizationServer();
    issuer.storage.graceMs = graceMs;
    server = await ProtectedServer.open([issuer.issuer]);
    issuer.settings.resources.set(server.url, server.allScopes);
    hub = await OAuthHub.open();
    await hub.add("protected", { url: server.url });
    await hub.logIn("protected", issuer);
  });

  afterAll(async () => {
    await hub.close();
    await server.close();
    await issuer.close();
  });

  it(`A16 AU-1 ${KILLS} kills during a renewal`, () => withSeed(killAll));

  async function killAll(random: () => number): Promise<void> {
    const lost: number[] = [];
    let inside = 0;
    for (let kill = 1; kill <= KILLS; kill++) {
      server.revokeTokens();
      issuer.front.passed.length = 0;
      const call = hub.call("protected", "whoami").catch(() => undefined);
      await delay(random() * RENEWAL_MS);
      await hub.running.kill();
      await call;
      const answered = issuer.front.refreshes.some(({ answer }) => answer?.status === 200);
      if (issuer.front.refreshes.length > 0) inside++;
      await hub.restart("kill");
      const isLost = await isLoginLost();
      if (!isLost) continue;
      lost.push(kill);
      expect([kill, answered]).toEqual([kill, true]);
      expect(await hub.logIn("protected", issuer)).toMatchObject({ state: "completed" });
    }
    process.stdout.write(`${KILLS} kills, ${inside} during a renewal, ${lost.length} logins lost\n`);
    expect(inside).toBeGreaterThan(KILLS / 10);
    if (graceMs > 0) expect(lost).toEqual([]);
  }

  async function isLoginLost(): Promise<boolean> {
    return vi.waitFor(
      async () => {
        const { text, error } = await hub.call("protected", "whoami");
        if (error?.code === "UNAUTHENTICATED") return true;
        expect(text).toContain("alice");
        return false;
      },
      { timeout: BACK_MS, interval: 100 },
    );
  }
});
