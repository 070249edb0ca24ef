// Servers that start at the first call and stop when idle: clients do not notice it.

import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { Hub } from "../../hub/src/hub/hub.ts";
import { hubPaths } from "../../hub/src/config/files/paths.ts";
import { fixture, makeHome, type Home } from "../support/hub.ts";
import { callText, callTool, untilState } from "../support/in-process.ts";
import { processesWithMark } from "../support/processes.ts";

const NEVER_MS = 3_600_000;
const open: { hub: Hub; home: Home }[] = [];
afterEach(async () => {
  for (const { hub, home } of open.splice(0)) {
    await hub.stop();
    expect(processesWithMark(home.mark)).toEqual([]);
    await home.remove();
  }
});

const entry = (idleMs: number) => ({ ...fixture("echo"), resilience: { on_demand: true, idle_ms: idleMs } });

async function startHub(home: Home): Promise<Hub> {
  const paths = hubPaths({ env: home.env, platform: process.platform, home: home.dir });
  const hub = await Hub.open({ paths, variables: home.env });
  await hub.start();
  return hub;
}

async function start(idleMs: number): Promise<{ hub: Hub; home: Home }> {
  const home = await makeHome({ it: entry(idleMs) });
  const started = { home, hub: await startHub(home) };
  open.push(started);
  return started;
}

const toolsOf = (hub: Hub) => hub.catalog.group().tools.map(({ tool }) => tool);

describe("LC-2 a server that is started on demand", () => {
  it("is stopped when idle, stays listed, and a call starts it", async () => {
    const { hub, home } = await start(1);
    await untilState(hub, "it", "stopped");
    expect(processesWithMark(home.mark)).toEqual([]);
    expect(toolsOf(hub)).toContain("echo");
    expect(await callText(hub, "it", "echo", { text: "awake" })).toBe("awake");
    await untilState(hub, "it", "stopped");
    expect(toolsOf(hub)).toContain("echo");
  });

  it("is not started with the hub if its listing is known", async () => {
    const first = await makeHome({ it: entry(NEVER_MS) });
    const before = await startHub(first);
    expect(before.supervisor.get("it").status.state).toBe("running");
    await before.stop();
    const hub = await startHub(first);
    open.push({ hub, home: first });
    expect(hub.supervisor.get("it").status.state).toBe("stopped");
    expect(processesWithMark(first.mark)).toEqual([]);
    expect(toolsOf(hub)).toContain("echo");
    const texts = await Promise.all(["a", "b", "c"].map((text) => callText(hub, "it", "echo", { text })));
    expect(texts).toEqual(["a", "b", "c"]);
    expect(processesWithMark(first.mark)).toHaveLength(1);
  });

  it("is not stopped during a call", async () => {
    const { hub } = await start(1);
    const steps = callText(hub, "it", "progress", { steps: 3, ms: 100 }, { timeoutMs: 60_000 });
    expect(await steps).toBe("3 steps");
  });

  it("leaves the lists when a user stops it, or when it does not start", async () => {
    const { hub } = await start(NEVER_MS);
    const changed = once(hub.events, "catalog.changed");
    await hub.supervisor.get("it").stop();
    await changed;
    expect(toolsOf(hub)).toEqual([]);
    await expect(callTool(hub, "it", "echo")).rejects.toMatchObject({ kind: "ServerNotRunning" });
  });
});
