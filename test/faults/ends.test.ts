// F21, F41 and F42: how the hub itself ends. Each test has its own hub.

import { once } from "node:events";
import { createServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { fixture, makeHome, plugboard, type Home, type StartOptions } from "../support/hub.ts";
import { processesWithMark, seesTags, untilNoneWithMark } from "../support/processes.ts";
import { FaultHub, OTHER } from "./fault-hub.ts";
import { requireSeen } from "./rows.ts";
import { listen } from "../support/sockets.ts";

const opened: FaultHub[] = [];

async function open(home: Home, options: StartOptions = {}): Promise<FaultHub> {
  const hub = await FaultHub.open({ home, ...options });
  opened.push(hub);
  return hub;
}

// Also ends the hub of a failed test.
afterEach(async () => {
  for (const hub of opened.splice(0)) {
    hub.events.close();
    await hub.running.kill();
    await hub.home.remove();
  }
});

describe.runIf(seesTags)("the end of a hub", () => {
  it("F21 a port in use is named, and nothing has been started", async () => {
    const holder = createServer();
    await listen(holder);
    const address = holder.address();
    const port = typeof address === "object" ? String(address?.port) : "";
    const home = await makeHome({ [OTHER]: fixture("echo") });
    const { code, stderr } = await plugboard(home, ["up", "--port", port]);
    expect(code).not.toBe(0);
    expect(stderr).toContain(port);
    expect(processesWithMark(home.mark)).toEqual([]);
    holder.close();
    await home.remove();
  });

  it("F41 killed under load: no process is left, and every answered call is recorded", async () => {
    const home = await makeHome({ [OTHER]: fixture("echo") });
    const hub = await open(home);
    const endless = async () => {
      for (;;) await hub.call(OTHER, "echo");
    };
    const lanes = Promise.allSettled(Array.from({ length: 8 }, endless));
    await hub.until(() => hub.outcomes.length > 200);
    await hub.running.kill();
    await lanes;
    await untilNoneWithMark(home.mark);
    const answered = hub.outcomes.splice(0);
    const next = await open(home);
    for (const { workflow } of answered) expect(await next.calls(workflow)).toMatchObject([{ success: true }]);
    expect(await next.end()).toBe(0);
  });

  it("F41 killed during a save: the next start has the old or the new config", async () => {
    const home = await makeHome({ [OTHER]: fixture("echo") });
    const hub = await open(home);
    let acknowledged = 0;
    const endless = async () => {
      for (let n = 0; ; n++) {
        await hub.addEntry(`n${n}`, { ...fixture("echo"), enabled: false });
        acknowledged = n + 1;
      }
    };
    const saving = Promise.allSettled([endless()]);
    await hub.until(() => acknowledged > 10);
    await hub.running.kill();
    await saving;
    const next = await open(home);
    const names = (await next.api("/servers")).json.map(({ config }: { config: { name: string } }) => config.name);
    for (let n = 0; n < acknowledged; n++) expect(names).toContain(`n${n}`);
    expect(await next.end()).toBe(0);
  });

  it("F41 a call that was running at the kill is logged with an unknown outcome", async () => {
    const home = await makeHome({ [OTHER]: fixture("echo") });
    const hub = await open(home);
    const { name, up } = await hub.add({ steps: [{ do: "silence" }] });
    const call = hub.call(name, "act").catch(() => undefined);
    await up.until("ran");
    await hub.running.kill();
    await call;
    hub.events.close();
    const next = await open(home);
    const { items } = (await next.api(`/calls?server=${name}`)).json;
    expect(items).toMatchObject([{ tool_name: "act", success: false, error_code: "UNKNOWN" }]);
    expect(await next.end()).toBe(0);
  });

  it("F42 SIGTERM with calls that never end: exit 0, and nothing is left", async () => {
    const home = await makeHome({ [OTHER]: fixture("echo") });
    const hub = await open(home);
    const { name, up } = await hub.add({ steps: [{ do: "silence" }] }, { timeouts: { requestMs: 120_000 } });
    const calls = Array.from({ length: 5 }, () => hub.call(name, "act").catch((error: unknown) => error));
    await hub.until(() => up.ran() === 5);
    const startedAt = performance.now();
    expect(await hub.running.stop()).toBe(0);
    process.stderr.write(`SIGTERM with five open calls: gone after ${Math.round(performance.now() - startedAt)} ms\n`);
    await Promise.all(calls);
    expect(processesWithMark(home.mark)).toEqual([]);
    expect(hub.running.stderr()).not.toMatch(/unhandled|uncaught/i);
  });

  it("F42 SIGTERM during a call that is nearly done: it is answered, and no new call is accepted", async () => {
    const home = await makeHome({ [OTHER]: fixture("echo") });
    const hub = await open(home, { args: ["--drain", "1h"] });
    const { name, up } = await hub.add({ steps: [{ do: "hold", gate: "go" }] });
    const call = hub.call(name, "act", { id: "x1" });
    await up.until("ran");
    const ended = once(hub.running.process, "exit");
    hub.running.process.kill("SIGTERM");
    await hub.until(() =>
      hub.call(OTHER, "echo").then(
        ({ error }) => error !== undefined,
        () => true,
      ),
    );
    up.open("go");
    requireSeen(await call, "answer");
    expect(await ended).toEqual([0, null]);
    hub.events.close();
    await home.remove();
  });
});
