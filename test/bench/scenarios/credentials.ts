// What credentials cost: calls of one hub without any, with an access token, and with a JWT that it has checked before. The slices
// alternate on the same process, because the difference is small.

import { writeFile, readFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { TokenIssuer } from "../../support/oauth/token-issuer.ts";
import { calls } from "../phase.ts";
import { plugboard } from "../targets/plugboard.ts";
import type { Target } from "../targets/target.ts";
import { enter, rotated, type Bench, type Sample, type Scenario } from "./scenario.ts";

/** Many, because the difference is small. */
const TURNS_PER_ROUND = 12;
const PHASE = calls("100 B", 16);
const PLAN = { transport: "stdio", era: "legacy", servers: 1, tools: 2 } as const;
const AUDIENCE = "plugboard-bench";
/** No call of the benchmark is to be refused. */
const LIMITS = { requests_per_second: 100_000, max_requests: 1000 };

export const credentials: Scenario = {
  name: "credentials",
  title: "One hub, by the credentials of its callers",
  run: async (bench) => {
    const issuer = await TokenIssuer.create();
    const close = await issuer.listen();
    try {
      return await alternate(bench, issuer);
    } finally {
      close();
    }
  },
};

async function alternate(bench: Bench, issuer: TokenIssuer): Promise<Sample[]> {
  let folder = "";
  let base = "";
  const target: Target = {
    ...plugboard,
    launch: async (stage) => {
      folder = stage.folder;
      base = `http://127.0.0.1:${stage.port}`;
      await mkdir(join(folder, "config"), { recursive: true });
      const auth = { limits: LIMITS, issuers: [{ issuer: issuer.url, audience: [AUDIENCE] }] };
      await writeFile(join(folder, "config/hub.json"), JSON.stringify({ auth }));
      return plugboard.launch(stage);
    },
  };
  const hub = await enter(bench, { target, plan: PLAN, clientEra: "legacy" });
  if (hub === undefined) return [];
  const bearer = (token: string) => hub.linkWith({ authorization: `Bearer ${token}` });
  const callers = [
    { name: "no token", link: hub.link },
    { name: "access token", link: bearer(await makeToken(base, folder)) },
    { name: "JWT", link: bearer(await issuer.token({ aud: AUDIENCE })) },
  ];
  try {
    for (const { link } of callers) await hub.warm(PHASE, bench.warmMs, link);
    const samples: Sample[] = [];
    for (let round = 0; round < bench.rounds * TURNS_PER_ROUND; round++) {
      for (const { name, link } of rotated(callers, round)) {
        samples.push({
          target: name,
          phase: PHASE.name,
          round,
          figures: await hub.measure(PHASE, bench.sliceMs, link),
        });
      }
    }
    return samples;
  } finally {
    for (const { link } of callers.slice(1)) link.close();
    await hub.close();
  }
}

async function makeToken(base: string, folder: string): Promise<string> {
  const management = (await readFile(join(folder, "data/token"), "utf8")).trim();
  const response = await fetch(`${base}/api/v1/tokens`, {
    method: "POST",
    headers: { authorization: `Bearer ${management}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "bench", groups: ["bench"] }),
  });
  const made = (await response.json()) as { token?: string };
  if (made.token === undefined) throw new Error(`The hub made no token: HTTP ${response.status}`);
  return made.token;
}
