// No call runs twice, however it failed (F23); reloads disturb no call (F38); one hanging server does not delay fifty others
// (F31).

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fixture, makeHome } from "../../support/hub.ts";
import { FaultHub, OTHER } from "../fault-hub.ts";
import { family, requireSeen } from "../rows.ts";
import type { Fault } from "../scenario.ts";
import { NEVER_OPEN } from "../settings.ts";
import { seededRandom } from "./random.ts";
import { upTo } from "../../support/scale.ts";

const COUNT = upTo(10_000);
const RELOADS = upTo(1000);
const SERVERS = upTo(50);

const AMBIGUOUS: readonly Fault[] = [
  { do: "status", status: 500, ran: true },
  { do: "reset" },
  { do: "reset", bytes: 30 },
  { do: "reset", bytes: 120 },
  { do: "sseCut" },
  { do: "sseCut", hard: false },
  { do: "body", body: "" },
];

family("many calls", ({ hub }) => {
  it(`F23 ${COUNT} ambiguous failures: every tool without hints ran once`, async () => {
    const random = seededRandom("ambiguous failures");
    // Limits the calls per server, because its record is read completely each time.
    for (let done = 0; done < COUNT;) {
      const steps = Array.from({ length: Math.min(500, COUNT - done) }, (_, n) => ({
        ...random.pick(AMBIGUOUS),
        nth: n + 1,
      }));
      const { name, up } = await hub().add({ transport: "http", steps }, NEVER_OPEN);
      for (let n = 0; n < steps.length; n++) {
        requireSeen(await hub().call(name, "act", { id: `${n}` }), { code: "NETWORK_ERROR" });
      }
      const ids = up.seen.filter(({ what }) => what === "ran").map(({ id }) => id);
      expect(ids).toEqual(steps.map((_, n) => `${n}`));
      hub().outcomes.splice(0);
      await hub().remove(name);
      done += steps.length;
    }
  });

  it(`F38 ${RELOADS} reloads under load: unchanged servers keep their process, no call fails`, async () => {
    const path = join(hub().home.dir, "config/mcp_server.json");
    const { pid } = await hub().server(OTHER);
    const config = JSON.parse(readFileSync(path, "utf8"));
    const done = new AbortController();
    let calls = 0;
    const load = (async () => {
      while (!done.signal.aborted) {
        expect((await hub().call(OTHER, "echo", { id: `${++calls}` })).text).toBe(`${calls}`);
        hub().outcomes.splice(0);
      }
    })();
    for (let n = 0; n < RELOADS; n++) {
      config.mcpServers[OTHER].description = `reload ${n}`;
      writeFileSync(`${path}.new`, JSON.stringify(config));
      renameSync(`${path}.new`, path);
      await hub().events.messages.find(({ description }) => description !== undefined);
      hub().events.messages.all.splice(0);
    }
    done.abort();
    await load;
    expect((await hub().server(OTHER)).pid).toBe(pid);
    process.stderr.write(`${RELOADS} reloads beside ${calls} calls\n`);
  });
});

it(`F31 one of ${SERVERS} servers hangs at the start: the others work meanwhile`, async () => {
  const good = Array.from({ length: SERVERS - 1 }, (_, n) => `good${n}`);
  const servers = Object.fromEntries(good.map((name) => [name, fixture("echo")]));
  const home = await makeHome({ hung: fixture("hung"), [OTHER]: fixture("echo"), ...servers });
  const startedAt = performance.now();
  const hub = await FaultHub.open({ home, ready: false });
  for (const name of good) await hub.untilState(name, "running");
  process.stderr.write(
    `${SERVERS - 1} of ${SERVERS} servers usable after ${Math.round(performance.now() - startedAt)} ms\n`,
  );
  for (const name of good) {
    const outcome = await hub.call(name, "echo", { args: { text: name } });
    expect(outcome.text).toBe(name);
  }
  expect((await hub.server("hung")).status).not.toBe("running");
  expect(await hub.end()).toBe(0);
});
