// A thousand clients with a hundred tokens that are revoked and expire all the time: none works a second after its end, and none is
// refused before.

import { Agent } from "node:http";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { HubClient } from "../../hub/src/api/client/client.ts";
import { clientOf } from "../support/client.ts";
import { fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { withSeed } from "../support/random.ts";
import { modern } from "../support/rpc.ts";
import { upTo } from "../support/scale.ts";

const CLIENTS = 1000;
const TOKENS = 100;
const RUN_MS = upTo(300) * 1000;
const PAUSE_MS = 1000;
const CHANGE_MS = 100;
/** Within this time after its end, a token must be useless. */
const GRACE_MS = 1000;
const DAY_MS = 86_400_000;
const LIFETIME_MS = { least: 2000, most: 20_000 };

interface Live {
  readonly id: string;
  readonly headers: { readonly authorization: string };
  readonly expiresAt: number;
  /** When the hub was asked to revoke it, and when it had answered. */
  askedAt: number;
  revokedAt: number;
}

let home: Home;
let hub: RunningHub;
let client: HubClient;

beforeAll(async () => {
  home = await makeHome({ echo: fixture("echo") });
  await writeFile(join(home.dir, "config/hub.json"), '{ "auth": { "mcp": "required" } }');
  hub = await startHub(home);
  client = await clientOf(hub);
});

afterAll(async () => {
  await hub?.stop();
  await home?.remove();
});

it(`A18 AU-3 ${CLIENTS} clients, ${TOKENS} tokens, ${RUN_MS / 1000} s: no call after the end of its token, none refused before`, async () => {
  await withSeed(async (random) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 200 });
    const until = Date.now() + RUN_MS;
    const counts = { accepted: 0, refused: 0, revoked: 0, expired: 0 };
    const faults: string[] = [];
    let made = 0;

    const make = async (): Promise<Live> => {
      const lasts = LIFETIME_MS.least + random() * (LIFETIME_MS.most - LIFETIME_MS.least);
      const given = { name: `token ${++made}`, expires_in_days: lasts / DAY_MS };
      const { id, token, expires_at } = await client.tokens.create(given);
      const expiresAt = Date.parse(expires_at ?? "");
      return { id, headers: { authorization: `Bearer ${token}` }, expiresAt, askedAt: Infinity, revokedAt: Infinity };
    };
    const tokens = await Promise.all(Array.from({ length: TOKENS }, make));

    const change = async () => {
      while (Date.now() < until) {
        const slot = Math.floor(random() * TOKENS);
        const token = tokens[slot];
        if (token !== undefined && token.expiresAt > Date.now()) {
          token.askedAt = Date.now();
          await client.tokens.revoke(token.id).then(
            () => {
              token.revokedAt = Date.now();
              counts.revoked++;
            },
            () => undefined, // it has expired meanwhile
          );
          // Clients go on with it for a while.
          await delay(CHANGE_MS);
        } else counts.expired++;
        if (tokens[slot] === token) tokens[slot] = await make();
      }
    };

    const call = async (number: number) => {
      await delay(random() * PAUSE_MS);
      while (Date.now() < until) {
        const token = tokens[number % TOKENS];
        if (token === undefined) return;
        const sentAt = Date.now();
        const { status } = await modern(`${hub.url}/mcp`, "tools/list", {}, token.headers, agent);
        const answeredAt = Date.now();
        const endedAt = Math.min(token.revokedAt, token.expiresAt);
        if (status === 200) {
          counts.accepted++;
          if (sentAt > endedAt + GRACE_MS) faults.push(`accepted ${sentAt - endedAt} ms after its end`);
        } else {
          counts.refused++;
          const isOver = answeredAt >= Math.min(token.askedAt, token.expiresAt);
          // 429: many wrong tokens come from one address.
          if ((status !== 401 && status !== 429) || !isOver) faults.push(`refused with ${status}`);
        }
        await delay(PAUSE_MS);
      }
    };

    await Promise.all([change(), ...Array.from({ length: CLIENTS }, (_, number) => call(number))]);
    agent.destroy();
    process.stdout.write(`${JSON.stringify(counts)}\n`);
    expect(faults).toEqual([]);
    expect(Math.min(counts.accepted, counts.refused, counts.revoked)).toBeGreaterThan(0);
  });
});
