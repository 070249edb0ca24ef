// F43 to F45: limits of the machine around the hub: no file descriptors, little memory, a suspended process.

import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { connect as connectTcp } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { OTHER } from "./fault-hub.ts";
import { fdsOf, memoryOf } from "./post-conditions.ts";
import { family, requireSeen, together } from "./rows.ts";
import { HANG_MS } from "./settings.ts";

const canLimit = spawnSync("prlimit", ["--version"]).status === 0;

family("a hub out of file descriptors", ({ hub }) => {
  const limit = (count: number) =>
    expect(spawnSync("prlimit", ["--pid", String(hub().pid), `--nofile=${count}:`]).status).toBe(0);

  it.runIf(canLimit)(
    "F44 running calls continue, new servers fail with a reason, and everything recovers",
    async () => {
      const { name, up } = await hub().add({ steps: [{ do: "hold", gate: "go" }] });
      const open = hub().call(name, "act", { id: "x1", deadlineMs: 60_000 });
      await up.until("ran");
      // Enough descriptors for clients, but not for the pipes of a process.
      limit(fdsOf(hub().pid) + 4);
      const late = hub().nextName();
      await hub().addEntry(late, { ...up.command });
      const { error } = await hub().passed(late, "error");
      expect(error).toMatchObject({ code: "SERVICE_UNAVAILABLE" });
      // More clients than descriptors.
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
    },
  );
});

family("more calls than the limit", ({ hub }) => {
  it("T48 of 400 concurrent calls to one server 256 run, others queue, and the rest are refused", async () => {
    const { name, up } = await hub().add({ steps: [{ do: "hold", gate: "go" }] });
    const calls = together(hub(), name, 400);
    await hub().until(() => up.ran() === 256);
    await hub().until(async () => (await hub().metrics()).includes(`hub_calls_waiting{server="${name}"} 144`));
    expect(up.ran()).toBe(256);
    up.open("go");
    expect((await calls).filter(({ error }) => error !== undefined)).toEqual([]);
    expect(up.ran()).toBe(400);
  });

  it("AU-7 a server's own limits: the error names the setting, and the circuit stays closed", async () => {
    const scenario = { steps: [{ do: "hold" as const, gate: "go" }] };
    const { name, up } = await hub().add(scenario, { resilience: { max_calls: 2, max_queued_calls: 1 } });
    const calls = together(hub(), name, 3);
    await hub().until(async () => (await hub().metrics()).includes(`hub_calls_waiting{server="${name}"} 1`));
    for (let n = 0; n < 4; n++) {
      requireSeen(await hub().call(name, "act"), {
        code: "RATE_LIMITED",
        message: /2 running, 1 waiting.*resilience.max_calls 2, resilience.max_queued_calls 1/,
      });
    }
    const { status, headers, json } = await hub().api(`/servers/${name}/tools/act/call`, { method: "POST", body: {} });
    expect([status, headers["retry-after"], json.code]).toEqual([429, "1", "RATE_LIMITED"]);
    expect(await hub().metrics()).toContain(`hub_calls_refused_total{server="${name}",limit="max_calls"} 5`);
    up.open("go");
    for (const outcome of await calls) expect(outcome.error).toBeUndefined();
    expect((await hub().server(name)).circuit).toBe("closed");
  });

  it("AU-7 a server's rate, and then the hub's, changed while it runs", async () => {
    const { name, up } = await hub().add({}, { resilience: { calls_per_second: 0.001, calls_burst: 3 } });
    const outcomes = await together(hub(), name, 5);
    expect([outcomes.filter(({ error }) => error === undefined).length, up.ran()]).toEqual([3, 3]);
    requireSeen(await hub().call(name, "act"), {
      code: "RATE_LIMITED",
      message: /too often \(limits: resilience.calls_per_second 0.001, resilience.calls_burst 3\)/,
    });
    const path = join(hub().home.dir, "config/mcp_server.json");
    const setLimits = async (limits: object | undefined) => {
      await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, "utf8")), limits }));
      await hub().api("/config/reload", { method: "POST" });
    };
    await setLimits({ calls_per_second: 0.001, calls_burst: 1 });
    expect((await hub().call(OTHER, "echo")).error).toBeUndefined();
    requireSeen(await hub().call(OTHER, "echo"), {
      code: "RATE_LIMITED",
      message: /^The hub .*limits.calls_per_second/,
    });
    await setLimits({ calls_per_minute: 5 });
    expect((await hub().call(OTHER, "echo")).error).toBeUndefined();
    await setLimits(undefined);
  });
});

family("a tool with limits of its own", ({ hub }) => {
  it("AU-7 a tool's rate and slots: other tools go on, and the metrics name the tool", async () => {
    const act = { calls_per_second: 0.001, calls_burst: 2, max_calls: 1, max_queued_calls: 0 };
    const scenario = { steps: [{ do: "hold" as const, gate: "go" }] };
    const { name, up } = await hub().add(scenario, { resilience: { tool_limits: { act, "not-there": {} } } });
    const running = hub().call(name, "act");
    await up.until("ran");
    requireSeen(await hub().call(name, "act"), {
      code: "RATE_LIMITED",
      message: /^The tool "act" of .* 1 running, 0 waiting \(limits: resilience.tool_limits.act.max_calls 1/,
    });
    up.open("go");
    expect((await running).error).toBeUndefined();
    requireSeen(await hub().call(name, "act"), {
      code: "RATE_LIMITED",
      message: /too often \(limits: resilience.tool_limits.act.calls_per_second 0.001/,
    });
    const { status, headers } = await hub().api(`/servers/${name}/tools/act/call`, { method: "POST", body: {} });
    expect([status, Number(headers["retry-after"]) > 900]).toEqual([429, true]);
    expect((await hub().server(name)).circuit).toBe("closed");
    expect(await hub().metrics()).toContain(
      `hub_calls_refused_total{server="${name}",tool="act",limit="calls_per_second"} 2`,
    );
    const path = join(hub().home.dir, "config/mcp_server.json");
    const file = JSON.parse(await readFile(path, "utf8"));
    file.mcpServers[name].resilience = {};
    await writeFile(path, JSON.stringify(file));
    await hub().api("/config/reload", { method: "POST" });
    expect((await hub().call(name, "act")).error).toBeUndefined();
  });
});

family(
  "a hub with a heap of 128 MB",
  ({ hub }) => {
    it("F45 fifty answers of a megabyte at once", async () => {
      const calls = Array.from({ length: 50 }, () => hub().call(OTHER, "big", { args: { bytes: 1 << 20 } }));
      for (const { text } of await Promise.all(calls)) expect(text?.length).toBe(1 << 20);
    });

    it("F45 two endless lines at once, and a flood of notifications", async () => {
      const wide = { timeouts: { requestMs: 60_000 } };
      const bombs = [1, 2].map(() => hub().add({ steps: [{ do: "huge", bytes: 256 << 20 }] }, wide));
      const flood = await hub().add({ steps: [{ do: "flood", count: 40_000 }] }, wide);
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
        // Otherwise the post-conditions would look up every row.
        if (round > 0) hub().outcomes.splice(0);
      }
      expect(up.ran()).toBe(2000);
    });
  },
  { node: ["--max-old-space-size=128"] },
);

family("a suspended hub", ({ hub }) => {
  it("F43 resumes after more than its timeouts, and no server is lost", async () => {
    const { name, up } = await hub().add({ steps: [{ do: "hold", gate: "go" }] }, { timeouts: { requestMs: HANG_MS } });
    const calls = together(hub(), name, 5);
    await hub().until(() => up.ran() === 5);
    process.kill(hub().pid, "SIGSTOP");
    up.open("go");
    await new Promise((resolve) => setTimeout(resolve, HANG_MS * 2));
    process.kill(hub().pid, "SIGCONT");
    // Each call has exactly one outcome, an answer or a timeout.
    for (const outcome of await calls) {
      if (outcome.error !== undefined) requireSeen(outcome, { code: "NETWORK_ERROR", kind: "Timeout" });
    }
    requireSeen(await hub().call(name, "act", { id: "x1" }), "answer");
    expect((await hub().server(name)).status).toBe("running");
    expect(up.count("start")).toBe(1);
  });
});
