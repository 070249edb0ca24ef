// Faults of the machine around the hub: no descriptors left, little memory, a hub that stands still. F43 to F45.

import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import { expect, it } from "vitest";
import { OTHER } from "./fault-hub.ts";
import { fdsOf, memoryOf } from "./post-conditions.ts";
import { family, requireSeen, together } from "./rows.ts";
import { HANG_MS } from "./settings.ts";

const canLimit = spawnSync("prlimit", ["--version"]).status === 0;

family("a hub without descriptors", ({ hub }) => {
  const limit = (count: number) =>
    expect(spawnSync("prlimit", ["--pid", String(hub().pid), `--nofile=${count}:`]).status).toBe(0);

  it.runIf(canLimit)("F44 open calls go on, new servers fail with a reason, and it all works again", async () => {
    const { name, up } = await hub().add({ steps: [{ do: "hold", gate: "go" }] });
    const open = hub().call(name, "act", { id: "x1", deadlineMs: 60_000 });
    await up.until("ran");
    // What clients take, and not one more: a process needs three, and its pipes.
    limit(fdsOf(hub().pid) + 4);
    const late = hub().nextName();
    await hub().addEntry(late, { ...up.command });
    const { error } = await hub().passed(late, "error");
    expect(error).toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    // More clients than there is room for.
    const port = Number(new URL(hub().running.url).port);
    const crowd = Array.from({ length: 30 }, () => connectTcp(port, "127.0.0.1").on("error", () => undefined));
    await Promise.all(crowd.map((socket) => Promise.race([once(socket, "connect"), once(socket, "close")])));
    up.open("go");
    requireSeen(await open, "answer");
    for (const socket of crowd) socket.destroy();
    limit(4096);
    await hub().until(() =>
      hub()
        .call(OTHER, "echo")
        .then(
          ({ text }) => text !== undefined,
          () => false,
        ),
    );
    await hub().api(`/servers/${late}/start`, { method: "POST" });
    await hub().untilState(late, "running");
  });
});

family(
  "a hub with a heap of 128 MB",
  ({ hub }) => {
    it("F45 fifty answers of a megabyte at once", async () => {
      const calls = Array.from({ length: 50 }, () => hub().call(OTHER, "big", { args: { bytes: 1 << 20 } }));
      for (const { text } of await Promise.all(calls)) expect(text?.length).toBe(1 << 20);
    });

    it("F45 two lines without an end at once, and a flood of notifications", async () => {
      const wide = { timeouts: { requestMs: 60_000 } };
      const bombs = [1, 2].map(() => hub().add({ steps: [{ do: "huge", bytes: 256 << 20 }] }, wide));
      const flood = await hub().add({ steps: [{ do: "flood", count: 100_000 }] }, wide);
      const failed = Promise.all(
        (await Promise.all(bombs)).map(({ name }) => hub().call(name, "act", { deadlineMs: 60_000 })),
      );
      requireSeen(await hub().call(flood.name, "act", { id: "x1", deadlineMs: 60_000 }), "answer");
      for (const outcome of await failed) requireSeen(outcome, { code: "NETWORK_ERROR" });
      process.stderr.write(`with a heap of 128 MB the hub took ${memoryOf(hub().pid, "VmHWM") >> 20} MB at most\n`);
    });

    it("F45 2,000 calls, a hundred at once", async () => {
      const { name, up } = await hub().add({});
      for (let round = 0; round < 20; round++) {
        const outcomes = await together(hub(), name, 100);
        expect(outcomes.filter(({ error }) => error !== undefined)).toEqual([]);
        // Their rows are looked up one by one otherwise.
        if (round > 0) hub().outcomes.splice(0);
      }
      expect(up.ran()).toBe(2000);
    });
  },
  { node: ["--max-old-space-size=128"] },
);

family("a hub that stands still", ({ hub }) => {
  it("F43 for longer than its time-outs: then it goes on, and no server is lost", async () => {
    const { name, up } = await hub().add({ steps: [{ do: "hold", gate: "go" }] }, { timeouts: { requestMs: HANG_MS } });
    const calls = together(hub(), name, 5);
    await hub().until(() => up.ran() === 5);
    process.kill(hub().pid, "SIGSTOP");
    up.open("go");
    await new Promise((resolve) => setTimeout(resolve, HANG_MS * 2));
    process.kill(hub().pid, "SIGCONT");
    // Answered in time or not: each of them once.
    for (const outcome of await calls) {
      if (outcome.error !== undefined) requireSeen(outcome, { code: "NETWORK_ERROR", kind: "Timeout" });
    }
    requireSeen(await hub().call(name, "act", { id: "x1" }), "answer");
    expect((await hub().server(name)).status).toBe("running");
    expect(up.count("start")).toBe(1);
  });
});
