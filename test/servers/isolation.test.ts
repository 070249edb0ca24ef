// One hub with twenty servers, some of which hang, crash or are slow: the other servers and their clients must not be affected.
// The hub is the built one, in its own process.

import { Agent, request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { commandLine, processesWithMark } from "../support/processes.ts";
import { connect } from "../support/rpc.ts";
import { openStream, type OpenStream } from "../support/streams.ts";

const GOOD = Array.from({ length: 17 }, (_, n) => `good-${n}`);

describe("twenty servers, of which one hangs, one crashed and one takes minutes to start", () => {
  let home: Home;
  let hub: RunningHub;
  let url: string;
  let session: Awaited<ReturnType<typeof connect>>;
  let stream: OpenStream;

  beforeAll(async () => {
    const good = Object.fromEntries(GOOD.map((name) => [name, fixture("echo")]));
    home = await makeHome({
      hung: fixture("hung"),
      crashing: { ...fixture("echo"), resilience: { restart: false } },
      slow: fixture("slow-start", "600000"),
      ...good,
    });
    hub = await startHub(home, { ready: false });
    url = `${hub.url}/mcp`;
    session = await connect(url);
    stream = await openStream(url, { headers: session.headers });
    await untilListed([...GOOD, "crashing"]);
    await session.request("tools/call", { name: "crashing__crash" });
    await untilListed(GOOD);
  });

  afterAll(async () => {
    stream?.close();
    expect(await hub?.stop()).toBe(0);
    expect(hub?.stderr()).not.toMatch(/unhandled|uncaught/i);
    expect(processesWithMark(home.mark)).toEqual([]);
    await home?.remove();
  });

  const toolsOf = async (): Promise<string[]> =>
    (await session.request("tools/list")).result.tools.map(({ name }: { name: string }) => name);

  /** Waits until exactly these servers have tools in the list; lists again at each list_changed. */
  async function untilListed(servers: readonly string[]): Promise<void> {
    for (;;) {
      const seen = stream.messages.all.length;
      const listed = new Set((await toolsOf()).map((name) => name.split("__")[0]));
      if (listed.size === servers.length && servers.every((name) => listed.has(name))) return;
      await stream.messages.more(seen);
    }
  }

  it("LC-7 MC-T5 the hanging and the slow server are still starting", () => {
    const running = processesWithMark(home.mark).map(commandLine);
    expect(running.filter((line) => line.includes("hung.mjs"))).toHaveLength(1);
    expect(running.filter((line) => line.includes("slow-start.mjs"))).toHaveLength(1);
    expect(hub.stderr()).not.toContain("Handshake timed out");
  });

  it("LC-7 MC-T5 F31 all other servers work", async () => {
    const answers = await Promise.all(
      GOOD.map((name) => session.request("tools/call", { name: `${name}__echo`, arguments: { text: name } })),
    );
    expect(answers.map(({ result }) => result.content[0].text)).toEqual(GOOD);
  });

  it.each(["hung", "slow", "crashing"])("GR-5 a call to %s fails at once as unavailable", async (name) => {
    const { result } = await session.request("tools/call", { name: `${name}:echo`, arguments: { text: "x" } });
    expect(result).toMatchObject({
      isError: true,
      _meta: { "io.plugboard/error": { code: "SERVICE_UNAVAILABLE", message: "Server unavailable" } },
    });
  });

  it("LC-7 F31 GR-3 the tools are listed from memory, as fast as a ping (median of 50), also while a call hangs", async () => {
    const hanging = Promise.allSettled([
      session.request("tools/call", { name: "good-0__hang" }),
      session.request("tools/call", { name: "good-1__hang" }),
    ]);
    const agent = new Agent({ keepAlive: true });
    const lists: number[] = [];
    const pings: number[] = [];
    for (let round = 0; round < 60; round++) {
      const startedAt = performance.now();
      const body = await ask(agent, "tools/list");
      const listedAt = performance.now();
      await ask(agent, "ping");
      lists.push(listedAt - startedAt);
      pings.push(performance.now() - listedAt);
      expect(JSON.parse(body).result.tools.length).toBeGreaterThanOrEqual(GOOD.length * 10);
    }
    agent.destroy();
    process.stderr.write(
      `tools/list of 17 servers: ${median(lists).toFixed(2)} ms, ping: ${median(pings).toFixed(2)} ms\n`,
    );
    // The list is larger than a ping; a list that asked a server would take seconds.
    expect(median(lists)).toBeLessThan(10 * median(pings) + 10);
    // Ends with the hub.
    void hanging;
  });

  function median(times: readonly number[]): number {
    return times.slice(10).toSorted((a, b) => a - b)[25] ?? Infinity;
  }

  function ask(agent: Agent, method: string): Promise<string> {
    const headers = {
      ...session.headers,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    return new Promise((resolve, reject) => {
      const outgoing = request(url, { method: "POST", headers, agent }, (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (chunk) => (body += chunk));
        response.on("end", () => resolve(body));
      });
      outgoing.on("error", reject);
      outgoing.end(JSON.stringify({ jsonrpc: "2.0", id: method, method }));
    });
  }
});
