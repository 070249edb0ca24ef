// Removed servers and finished requests leave nothing in memory. A timer that is not cleared would keep a whole server.

import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { SmallMap } from "../../hub/src/lib/small-map.ts";
import { callText, openInProcess, untilState } from "../support/in-process.ts";
import { reachableBytes } from "../support/memory.ts";
import { Upstream } from "./scenario.ts";

const COUNT = 20;

it("F38 RS-3 nothing is left of servers that were removed, stopped by a failure, or replaced", async () => {
  const { hub, home, end } = await openInProcess({});
  onTestFinished(async () => {
    expect(await end()).toEqual([]);
    await up.stop();
  });
  await hub.start();
  const up = new Upstream(home.dir, { transport: "http", era: "modern" });
  const url = await up.listen();
  const gone: WeakRef<object>[] = [];
  const remember = (name: string) => void gone.push(new WeakRef(hub.supervisor.get(name)));
  for (let n = 0; n < COUNT; n++) {
    const name = `server${n}`;
    await hub.configuration.createServer({ name, url });
    await untilState(hub, name, "running");
    expect(await callText(hub, name, "act", { id: "x" })).toBe("act x");
    remember(name);
    await hub.configuration.updateServer(name, { name, url: `${url}?changed` });
    await untilState(hub, name, "running");
    remember(name);
    await hub.configuration.deleteServer(name);
    await hub.configuration.createServer({ name, command: "plugboard-no-such-command" });
    await untilState(hub, name, "error");
    remember(name);
    await hub.configuration.deleteServer(name);
  }
  const left = async () => {
    // deref() keeps its target alive until the end of the turn.
    await sleep(0);
    reachableBytes();
    return gone.filter((server) => server.deref() !== undefined).length;
  };
  // The last few may still be referenced by pending work.
  await vi.waitUntil(async () => (await left()) <= 3, { timeout: 20_000, interval: 200 }).catch(() => undefined);
  expect(await left()).toBeLessThanOrEqual(3);
});

it("F47 requests with ever new ids do not grow the memory", () => {
  const tables = Array.from({ length: 1000 }, () => new SmallMap<number, true>());
  const count = (from: number, to: number) => {
    for (const table of tables) {
      for (let id = from; id < to; id++) {
        table.set(id, true);
        table.delete(id);
      }
    }
    return reachableBytes();
  };
  const before = count(0, 5);
  // A map with an entry per id would need 2.5 MB more.
  expect(count(5, 250) - before).toBeLessThan(1_000_000);
  expect(tables.every(({ size }) => size === 0)).toBe(true);
});
