// calls, stats and logs: what a running hub has recorded, and what it adds while a command follows it.

import { once } from "node:events";
import { beforeAll, describe, expect, it } from "vitest";
import { clientOf } from "../support/client.ts";
import { closeHub, GROUPS, json, openHub, rows, SERVERS } from "../support/cli.ts";
import {
  fixture,
  launch,
  makeHome,
  plugboard,
  startHub,
  type Finished,
  type Home,
  type RunningHub,
} from "../support/hub.ts";
import { modern } from "../support/rpc.ts";

describe("with a running hub", () => {
  let home: Home;
  let hub: RunningHub;
  beforeAll(async () => {
    home = await makeHome(SERVERS, GROUPS);
    hub = await startHub(home);
    return () => closeHub(hub);
  });

  it("RS-4 calls lists and filters the recorded calls", async () => {
    await plugboard(home, ["call", "it.echo", "text=x"]);
    await plugboard(home, ["call", "it.fail"]);
    const { stdout } = await plugboard(home, ["calls"]);
    expect(rows(stdout)[0]).toEqual(["ID", "TIME", "SERVER", "TOOL", "GROUP", "CLIENT", "TOOK", "RESULT", "MESSAGE"]);
    expect(stdout).toMatch(/^ *\d+ +\d\d:\d\d:\d\d +it +echo .* ok$/m);
    const failed = await json(home, "calls", "--failed");
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.every(({ success }: { success: boolean }) => !success)).toBe(true);
    const echoes = await json(home, "calls", "--tool", "echo", "--server", "it", "--since", "1h", "-n", "1");
    expect(echoes).toMatchObject([
      { server_name: "it", tool_name: "echo", success: true, duration_ms: expect.any(Number) },
    ]);
    expect(await json(home, "calls", "--outcome", "tool_error", "-n", "1")).toMatchObject([{ tool_name: "fail" }]);
    for (const none of [
      ["--slow", "1h"],
      ["--until", "1h"],
      ["--workflow", "unknown"],
      ["--group", "unknown"],
    ]) {
      expect(await json(home, "calls", ...none)).toEqual([]);
    }
    expect(await json(home, "calls", "--server", "unknown")).toEqual([]);
    expect((await plugboard(home, ["calls", "--client", "unknown"])).stdout).toBe("No calls.\n");
    for (const wrong of [
      ["--since", "soon"],
      ["--slow", "1"],
      ["--outcome", "good"],
      ["-n", "0"],
    ]) {
      expect(await plugboard(home, ["calls", ...wrong])).toMatchObject({ code: 2, stdout: "" });
    }
  });

  it("MG-1 RS-5 stats shows p50, p95 and p99", async () => {
    await plugboard(home, ["call", "it.echo", "text=x"]);
    const { stdout } = await plugboard(home, ["stats"]);
    expect(rows(stdout)[0]).toEqual(["SERVER", "CALLS", "ERRORS", "TOOL ERRORS", "P50", "P95", "P99"]);
    expect(stdout).toMatch(/^it +\d+ +\d+ +\d+ +[\d.]+m?s +[\d.]+m?s +[\d.]+m?s$/m);
    expect((await plugboard(home, ["stats", "it"])).stdout).toMatch(/^ {2}echo +\d+ +0 +/m);
    expect(await json(home, "stats", "it")).toMatchObject([
      {
        server_name: "it",
        p50_ms: expect.any(Number),
        p95_ms: expect.any(Number),
        p99_ms: expect.any(Number),
        total_calls: expect.any(Number),
      },
    ]);
  });

  it("logs shows the stderr of servers", async () => {
    expect((await plugboard(home, ["logs", "broken"])).stdout).toMatch(/^(?:fatal: no configuration found\n)+$/);
    expect((await plugboard(home, ["logs", "broken", "-n", "1"])).stdout).toBe("fatal: no configuration found\n");
    expect((await plugboard(home, ["logs", "broken", "-n", "0"])).stdout).toBe("");
    expect((await plugboard(home, ["logs"])).stdout).toMatch(/^broken +fatal: no configuration found$/m);
    const { stdout } = await plugboard(home, ["logs", "--json", "broken", "it", "-n", "1"]);
    const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    const none = { level: null, logger: null };
    const line = "fatal: no configuration found";
    expect(JSON.parse(stdout)).toEqual({ server: "broken", line, timestamp, source: "stderr", ...none });
    expect((await plugboard(home, ["logs", "--tail", "many"])).code).toBe(2);
  });
});

describe("following changes", () => {
  /** Runs a command until its output shows something, then interrupts it. */
  async function until(
    home: Home,
    words: readonly string[],
    wanted: RegExp,
    meanwhile: () => Promise<unknown>,
  ): Promise<Finished> {
    const { process: child, finished } = launch(home, words);
    let seen = "";
    const there = new Promise<void>((resolve, reject) => {
      child.stdout.on("data", (chunk) => {
        seen += chunk;
        if (wanted.test(seen)) resolve();
      });
      void finished.then(() => reject(new Error(`ended early: ${seen}`)));
    });
    there.catch(() => undefined);
    const over = there.then(
      () => true,
      () => true,
    );
    // The command may not be listening yet, so the action is repeated until its output shows.
    for (let isOver = false; !isOver;) {
      const done = meanwhile();
      isOver = await Promise.race([over, done.then(() => false)]);
      await done;
    }
    await there;
    child.kill("SIGINT");
    return finished;
  }

  it("RS-4 calls -f shows new calls, and exits 130 when interrupted", async (context) => {
    const { home } = await openHub(context, { it: fixture("echo") });
    await plugboard(home, ["call", "it.echo", "text=before"]);
    const { code, stdout } = await until(home, ["calls", "-f", "--tool", "add"], / it +add .* ok/, async () => {
      await plugboard(home, ["call", "it.echo", "text=x"]);
      await plugboard(home, ["call", "it.add", "a=1", "b=1"]);
    });
    expect(code).toBe(130);
    expect(stdout).not.toContain("echo");
    const lines = await until(
      home,
      ["calls", "-f", "--json"],
      /"tool_name":"add".*\n.*"tool_name":"echo"/s,
      async () => {
        await plugboard(home, ["call", "it.add", "a=1", "b=1"]);
        await plugboard(home, ["call", "it.echo", "text=x"]);
      },
    );
    const ids = lines.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).id);
    expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
  });

  it("logs -f shows new lines", async (context) => {
    const { home } = await openHub(context, { it: fixture("echo"), quiet: fixture("echo") });
    const crash = () => plugboard(home, ["call", "it.crash"]).then(() => plugboard(home, ["start", "it"]));
    const { code, stdout } = await until(home, ["logs", "-f", "it"], /^about to crash$/m, crash);
    expect(code).toBe(130);
    expect(stdout).not.toContain("quiet");
  });

  it("logs has the MCP log messages of a server, by source and level", async (context) => {
    const hub = await openHub(context, { talks: fixture("logs") });
    const { home } = hub;
    await plugboard(home, ["call", "talks.talk"]);
    const { stdout } = await plugboard(home, ["logs", "talks", "--level", "critical"]);
    expect(stdout).toBe("[critical] said\n[alert] said\n[emergency] said\n");
    expect((await plugboard(home, ["logs", "talks", "--source", "stderr"])).stdout).toBe("");
    const talk = () => plugboard(home, ["call", "talks.talk"]);
    const words = ["logs", "-f", "--source", "mcp", "--level", "alert", "-n", "1"];
    const followed = await until(home, words, /emergency[^]*emergency/, talk);
    expect(followed.stdout).not.toContain("critical");
    expect((await plugboard(home, ["logs", "--level", "loud"])).code).toBe(2);
    expect((await plugboard(home, ["logs", "--source", "stdout"])).code).toBe(2);
  });

  it("RS-6 logs of several servers are in the order of writing, each line once", async (context) => {
    const hub = await openHub(context, { a: fixture("echo"), b: fixture("echo") });
    const { home } = hub;
    const client = await clientOf(hub);
    const write = async (server: string, text: string) => {
      await modern(`${hub.url}/mcp`, "tools/call", { name: `${server}__complain`, arguments: { text } });
      await expect.poll(async () => (await client.servers.logs(server)).text).toContain(text);
    };
    for (const [server, text] of [
      ["b", "1st"],
      ["a", "2nd"],
      ["b", "3rd"],
      ["a", "4th"],
    ] as const) {
      await write(server, text);
    }
    const kept = "b  1st\na  2nd\nb  3rd\na  4th\n";
    expect((await plugboard(home, ["logs"])).stdout).toBe(kept);
    expect((await plugboard(home, ["logs", "b", "a", "-n", "1"])).stdout).toBe("b  3rd\na  4th\n");
    let next = 5;
    const { stdout } = await until(home, ["logs", "-f"], /^b +[5-9]th$[^]*^a +\d+th$/m, async () => {
      await write("b", `${next++}th`);
      await write("a", `${next++}th`);
    });
    expect(stdout.startsWith(kept)).toBe(true);
    const lines = stdout.trim().split("\n");
    expect(lines).toEqual([...new Set(lines)]);
  });

  it("LC-10 status --watch shows every change", async (context) => {
    const { home } = await openHub(context, { it: fixture("echo") });
    const { code } = await until(home, ["status", "--watch"], /1: 1 running$[^]*1: 1 stopped$/m, async () => {
      await plugboard(home, ["stop", "it"]);
      await plugboard(home, ["start", "it"]);
    });
    expect(code).toBe(130);
  });

  it("exits 4 if the hub stops", async (context) => {
    const hub = await openHub(context, { it: fixture("echo") });
    const { home } = hub;
    const { process: child, finished } = launch(home, ["status", "--watch"]);
    await once(child.stdout, "data");
    await hub.stop();
    expect(await finished).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/^error: .*\n(?:.*\n)* {2}(?:fix|note): /),
    });
  });
});
