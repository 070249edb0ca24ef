// Servers whose callers do not share one process or connection: which caller gets which, isolation between them, and clean-up.
// The hub runs in the test process; its HTTP front is a real socket, its servers are real processes.

import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Hub } from "../../hub/src/hub/hub.ts";
import { tokenOf } from "../support/client.ts";
import { fixture, launch, makeHome, plugboard, startHub, type Servers } from "../support/hub.ts";
import { callText, callTool, openInProcess, untilState, type InProcess } from "../support/in-process.ts";
import { isRunning, processesWithMark, untilNoneWithMark } from "../support/processes.ts";
import { startRemote } from "../support/remote.ts";
import { answerOf, connect, http, modern, post } from "../support/rpc.ts";
import { Messages } from "../support/streams.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

interface Front extends InProcess {
  readonly url: string;
}

async function open(servers: Servers, variables: Readonly<Record<string, string>> = {}): Promise<Front> {
  const made = await openInProcess(servers, { variables });
  const base = await made.hub.listen({ host: "127.0.0.1", port: 0 });
  await made.hub.start();
  closing.push(async () => expect(await made.end()).toEqual([]));
  return { ...made, url: `${base}/mcp` };
}

const stateful = (more: Readonly<Record<string, unknown>> = {}) => ({
  it: { ...fixture("stateful"), isolation: "per-session", ...more },
});

const resilience = (entry: Readonly<Record<string, unknown>>) => ({ resilience: entry });

/** A client. `call` returns the text of a result and throws errors of the hub or the server. */
interface Client {
  call(tool: string, args?: Readonly<Record<string, unknown>>): Promise<string>;
  end(): Promise<void>;
}

async function session(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Client> {
  const { headers: own } = await connect(url);
  const all = { ...own, ...headers };
  return {
    call: async (tool, args = {}) => textOf((await post(url, callMessage(tool, args), all)).body),
    end: async () => void (await http(url, { method: "DELETE", headers: all })),
  };
}

function sessionless(url: string, headers: Readonly<Record<string, string>> = {}): Client {
  return {
    call: async (tool, args = {}) =>
      textOf((await modern(url, "tools/call", { name: `it:${tool}`, arguments: args }, headers)).body),
    end: async () => undefined,
  };
}

const callMessage = (tool: string, args: unknown) => ({
  jsonrpc: "2.0",
  id: randomUUID(),
  method: "tools/call",
  params: { name: `it:${tool}`, arguments: args },
});

function textOf(body: string): string {
  const { result, error } = answerOf(body);
  if (error !== undefined) throw new Error(JSON.stringify(error));
  if (result.isError === true) throw new Error(JSON.stringify(result._meta ?? result));
  return result.content[0].text;
}

const until = (fits: () => boolean | Promise<boolean>) => vi.waitUntil(fits, { timeout: 60_000, interval: 10 });
const gone = (pid: string) => until(() => !isRunning(Number(pid)));
const instancesOf = (hub: Hub) => hub.supervisor.get("it").instances;

describe("LC-2 a process for each session", () => {
  it("two sessions have two processes, one session has one", async () => {
    const { hub, url, home } = await open(stateful());
    expect(hub.catalog.group().tools.map(({ tool }) => tool)).toContain("recall");
    const [a, b] = [await session(url), await session(url)];
    expect(processesWithMark(home.mark)).toHaveLength(1);
    const pids = await Promise.all([a, b, a, b].map((client) => client.call("pid")));
    expect(pids.slice(2)).toEqual(pids.slice(0, 2));
    expect(new Set([...pids, String(hub.supervisor.get("it").pid)]).size).toBe(3);
    await a.call("remember", { text: "of a" });
    expect([await a.call("recall"), await b.call("recall")]).toEqual(["of a", "nothing"]);
    expect(
      instancesOf(hub)
        .map(({ pid }) => String(pid))
        .toSorted(),
    ).toEqual([...new Set(pids)].toSorted());
  });

  it("prompts, resources and completions use the same instance as calls", async () => {
    const { url } = await open(stateful());
    const { request } = await connect(url);
    expect((await request("prompts/get", { name: "greet", arguments: { who: "me" } })).error).toBeUndefined();
    expect((await request("resources/read", { uri: "test://static" })).error).toBeUndefined();
    const { result } = await request("tools/call", { name: "it:heard", arguments: {} });
    expect(JSON.parse(result.content[0].text)).toEqual(
      expect.arrayContaining(["prompts/get", "resources/read", "tools/call"]),
    );
  });

  it("the first requests of a session, all at once, start one process", async () => {
    const { hub, url } = await open(stateful());
    const a = await session(url);
    const pids = await Promise.all(Array.from({ length: 8 }, () => a.call("pid")));
    expect(new Set(pids).size).toBe(1);
    expect(instancesOf(hub)).toHaveLength(1);
  });

  it("LC-4 the end of a session ends its process, and no other", async () => {
    const { hub, url } = await open(stateful());
    const [a, b] = [await session(url), await session(url)];
    const [ofA, ofB] = [await a.call("pid"), await b.call("pid")];
    await a.end();
    await gone(ofA);
    expect(await b.call("pid")).toBe(ofB);
    expect(instancesOf(hub)).toHaveLength(1);
  });

  it("a session that ends while its process starts leaves no process", async () => {
    const { hub, url, home } = await open({
      it: { ...fixture("slow-start", "3000"), isolation: "per-session" },
    });
    const { headers } = await connect(url);
    const call = post(url, callMessage("echo", { text: "x" }), headers);
    await until(() => processesWithMark(home.mark).length === 2);
    await http(url, { method: "DELETE", headers });
    await call;
    await until(() => processesWithMark(home.mark).length === 1);
    expect(instancesOf(hub)).toEqual([]);
  });

  it("LC-6 a crash of one instance does not affect others, and its session gets a new one", async () => {
    const { hub, url } = await open(stateful());
    const [a, b] = [await session(url), await session(url)];
    const [ofA, ofB] = [await a.call("pid"), await b.call("pid")];
    await b.call("remember", { text: "of b" });
    await expect(a.call("crash")).rejects.toThrow(/exited with code 7/);
    expect([await b.call("pid"), await b.call("recall")]).toEqual([ofB, "of b"]);
    expect(await a.call("pid")).not.toBe(ofA);
    expect(hub.supervisor.get("it").status.state).toBe("running");
  });

  it("LC-6 an instance answers while the main process is down", async () => {
    const { hub, url } = await open(stateful(resilience({ restart: false })));
    const [a, b] = [await session(url), await session(url)];
    const ofA = await a.call("pid");
    process.kill(hub.supervisor.get("it").pid ?? 0, "SIGKILL");
    await untilState(hub, "it", "error");
    expect(await a.call("pid")).toBe(ofA);
    await expect(b.call("pid")).rejects.toThrow(/Server unavailable/);
  });

  it("RS-2 an instance that hangs is replaced and opens the circuit; short timeouts set by a caller do neither", async () => {
    const entry = { ...resilience({ breaker_failures: 2 }), timeouts: { request_ms: 2000 } };
    const { hub } = await open(stateful(entry));
    const caller = { session: "a", principal: () => "somebody", credentialsOf: () => "somebody" };
    const pid = () => callText(hub, "it", "pid", {}, { caller });
    const hang = (timeoutMs?: number) => callTool(hub, "it", "hang", {}, { caller, timeoutMs });
    const silent = { kind: "Timeout", message: expect.stringContaining("No answer") };
    const before = await pid();
    for (let count = 0; count < 3; count++) await expect(hang(50)).rejects.toMatchObject(silent);
    expect(await pid()).toBe(before);
    expect(hub.supervisor.get("it").circuit.breaker.state).toBe("closed");
    await expect(hang()).rejects.toMatchObject(silent);
    expect(await pid()).toBe(before);
    await expect(hang()).rejects.toMatchObject(silent);
    await expect(hang()).rejects.toMatchObject(silent);
    await gone(before);
    expect(hub.supervisor.get("it").circuit.breaker.state).toBe("open");
  });
});

describe("SE-5 instances are bounded", () => {
  it("beyond the limit the longest idle one is ended before the next starts", async () => {
    const { hub, url, home } = await open(stateful(resilience({ max_instances: 2 })));
    const [a, b, c] = [await session(url), await session(url), await session(url)];
    const [ofA, ofB] = [await a.call("pid"), await b.call("pid")];
    const ofC = await c.call("pid");
    expect(isRunning(Number(ofA))).toBe(false);
    expect([await b.call("pid"), await c.call("pid")]).toEqual([ofB, ofC]);
    expect(processesWithMark(home.mark)).toHaveLength(3);
    expect(await a.call("recall")).toBe("nothing");
    expect(instancesOf(hub)).toHaveLength(2);
  });

  it("if all are busy, the call fails at once and no instance is lost", async () => {
    const { hub, url, home } = await open(stateful(resilience({ max_instances: 2 })));
    const [a, b, c] = [await session(url), await session(url), await session(url)];
    const path = join(home.dir, "go");
    const busy = [a, b].map((client) => client.call("wait_for_file", { path, name: "HOME" }));
    await until(() => processesWithMark(home.mark).length === 3);
    await expect(c.call("pid")).rejects.toThrow(/"kind":"Overloaded".*no room|no room.*"kind":"Overloaded"/);
    expect(hub.supervisor.get("it").circuit.breaker).toMatchObject({ state: "closed" });
    await writeFile(path, "");
    expect(await Promise.all(busy)).toHaveLength(2);
    expect(await c.call("recall")).toBe("nothing");
  });

  it("an idle instance is ended after a while, but not during a call", async () => {
    const { hub, url } = await open(stateful(resilience({ instance_idle_ms: 1 })));
    const a = await session(url);
    expect(await a.call("progress", { steps: 2, ms: 100 })).toBe("2 steps");
    await until(() => instancesOf(hub).length === 0);
    await gone(await a.call("whose"));
  });

  it("many sessions at once: never more processes than allowed, and every call gets an answer or an error", async () => {
    const { url, home } = await open(stateful(resilience({ max_instances: 3 })));
    const clients = await Promise.all(Array.from({ length: 12 }, () => session(url)));
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, processesWithMark(home.mark).length)), 5);
    const answers = await Promise.allSettled(clients.map((client) => client.call("pid")));
    clearInterval(watch);
    expect(most).toBeLessThanOrEqual(4);
    const refused = answers.flatMap((answer) => (answer.status === "rejected" ? [String(answer.reason)] : []));
    expect(answers.length - refused.length).toBeGreaterThanOrEqual(3);
    for (const reason of refused) expect(reason).toMatch(/Overloaded/);
  });
});

describe("callers", () => {
  const ANNA = { authorization: "Bearer anna" };
  const BERT = { authorization: "Bearer bert" };

  it("LC-2 per principal: the sessions of one user share a process, another user has another", async () => {
    const { hub, url } = await open(stateful({ isolation: "per-principal" }));
    const clients = [
      await session(url, ANNA),
      await session(url, ANNA),
      sessionless(url, ANNA),
      await session(url, BERT),
      await session(url),
      sessionless(url),
    ];
    const pids = await Promise.all(clients.map((client) => client.call("pid")));
    const [anna, , , bert, nobody] = pids;
    expect(pids).toEqual([anna, anna, anna, bert, nobody, nobody]);
    expect(new Set(pids).size).toBe(3);
    // The command line, the management API and embedding programs share the anonymous instance.
    expect(await callText(hub, "it", "pid")).toBe(nobody);
    await clients[0]?.end();
    expect(await clients[1]?.call("pid")).toBe(anna);
  });

  it("LC-2 per session: modern clients have no session and are distinguished by user", async () => {
    const { hub, url } = await open(stateful());
    const [one, two, anna, legacy] = [sessionless(url), sessionless(url), sessionless(url, ANNA), await session(url)];
    const pids = await Promise.all([one, two, anna, legacy].map((client) => client.call("pid")));
    expect(pids[1]).toBe(pids[0]);
    expect(new Set(pids).size).toBe(3);
    expect(await callText(hub, "it", "pid")).toBe(pids[0]);
  });

  it("LC-2 per call: each has a process of its own, which ends with the answer", async () => {
    const idle = resilience({ instance_idle_ms: 1 });
    const { url, home } = await open(stateful({ isolation: "per-call", ...idle }));
    const before = processesWithMark(home.mark).length;
    const [one, two] = [await session(url), sessionless(url)];
    const pids = await Promise.all([one, one, two, two].map((client) => client.call("pid")));
    expect(new Set(pids).size).toBe(4);
    await expect.poll(() => processesWithMark(home.mark)).toHaveLength(before);
  });

  it("LC-2 per call: one unused spare for each call that found none, up to three", async () => {
    const { hub, url } = await open(stateful({ isolation: "per-call" }));
    const client = await session(url);
    const ready = async (count: number) => {
      await until(() => instancesOf(hub).length === count && instancesOf(hub).every(({ pid }) => pid !== undefined));
      return instancesOf(hub).map(({ pid }) => String(pid));
    };
    await client.call("remember", { text: "of the first" });
    const [first] = await ready(1);
    expect(await client.call("recall")).toBe("nothing");
    await gone(first ?? "");
    const next = await ready(1);
    expect([await client.call("pid")]).toEqual(next);
    await ready(1);
    const burst = await Promise.all(Array.from({ length: 6 }, () => client.call("pid")));
    expect(new Set(burst).size).toBe(6);
    const three = await ready(3);
    const served = await Promise.all(three.map(() => client.call("pid")));
    expect(new Set(served)).toEqual(new Set(three));
    await ready(3);
  });

  it("LC-2 per call: no spare if there is room for one instance only", async () => {
    const { hub, url } = await open(stateful({ isolation: "per-call", ...resilience({ max_instances: 1 }) }));
    const client = await session(url);
    await gone(await client.call("pid"));
    expect(instancesOf(hub)).toEqual([]);
    await gone(await client.call("pid"));
  });

  it("LC-2 shared, the default: all callers use one process", async () => {
    const { hub, url, home } = await open({ it: { ...fixture("stateful"), isolation: "shared" } });
    const clients = [await session(url), await session(url, ANNA), sessionless(url)];
    const pids = await Promise.all(clients.map((client) => client.call("pid")));
    expect(new Set(pids)).toEqual(new Set([String(hub.supervisor.get("it").pid)]));
    expect(processesWithMark(home.mark)).toHaveLength(1);
  });

  it.each(["modern", "dual"])("LC-2 a %s server on stdio has an instance per caller", async (name) => {
    const { url } = await open({ it: { ...fixture(name), isolation: "per-session" } });
    const [a, b] = [await session(url), await session(url)];
    const pids = await Promise.all([a, b, a].map((client) => client.call("pid")));
    expect(pids[2]).toBe(pids[0]);
    expect(pids[1]).not.toBe(pids[0]);
  });
});

describe("CL-7 remote servers", () => {
  it("each session has its own upstream session, which is closed with it", async () => {
    const remote = await startRemote("stateful", ["--http"]);
    closing.push(remote.stop);
    const { hub, url } = await open({ it: { ...remote.entry, isolation: "per-session" } });
    const [a, b] = [await session(url), await session(url)];
    await a.call("remember", { text: "of a" });
    expect([await a.call("recall"), await b.call("recall")]).toEqual(["of a", "nothing"]);
    expect(await a.call("whose")).not.toBe(await b.call("whose"));
    expect(await a.call("open_sessions")).toBe("3");
    expect(instancesOf(hub)).toMatchObject([{ pid: undefined }, { pid: undefined }]);
    await b.end();
    await until(async () => (await a.call("open_sessions")) === "2");
  });

  it("a restarted server has lost its sessions, and the next call opens a new one", async () => {
    const first = await startRemote("stateful", ["--http"]);
    closing.push(first.stop);
    const { hub, url } = await open({ it: { ...first.entry, isolation: "per-session" } });
    const a = await session(url);
    await a.call("remember", { text: "of a" });
    await first.stop();
    const second = await startRemote("stateful", ["--http"], first.port);
    closing.push(second.stop);
    await until(async () => (await a.call("recall").catch(() => undefined)) === "nothing");
    await untilState(hub, "it", "running");
    expect(instancesOf(hub)).toHaveLength(1);
  });
});

describe("the server as a whole", () => {
  it("LC-4 a stop ends all instances, a restart opens new ones", async () => {
    const { hub, url, home } = await open(stateful());
    const [a, b] = [await session(url), await session(url)];
    const pids = [await a.call("pid"), await b.call("pid")];
    const server = hub.supervisor.get("it");
    await server.stop();
    expect(processesWithMark(home.mark)).toEqual([]);
    await expect(a.call("pid")).rejects.toThrow(/Server unavailable/);
    await server.start();
    expect(pids).not.toContain(await a.call("pid"));
    expect(instancesOf(hub)).toHaveLength(1);
  });

  it("LC-4 a stop ends an instance that is starting", async () => {
    const { hub, url, home } = await open({ it: { ...fixture("slow-start", "3000"), isolation: "per-session" } });
    const { headers } = await connect(url);
    const call = post(url, callMessage("echo", { text: "x" }), headers);
    await until(() => processesWithMark(home.mark).length === 2);
    await hub.supervisor.get("it").stop();
    expect(processesWithMark(home.mark)).toEqual([]);
    expect(answerOf((await call).body).result.isError).toBe(true);
  });

  it("CF-9 a changed entry gives each caller a new instance, and the old one finishes its calls", async () => {
    const { hub, url, home } = await open(stateful({ env: { WHICH: "old" } }));
    const [a, b] = [await session(url), await session(url)];
    const ofB = await b.call("pid");
    const path = join(home.dir, "go");
    const asked = a.call("wait_for_file", { path, name: "WHICH" });
    await until(() => instancesOf(hub).length === 2);
    const entry = await hub.configuration.readEntry("it");
    const env = { ...(entry["env"] as object), WHICH: "new" };
    await hub.configuration.updateServer("it", { ...entry, env });
    await until(async () => (await b.call("env", { name: "WHICH" })) === "new");
    await writeFile(path, "");
    expect(await asked).toBe("old");
    await gone(ofB);
    expect(await a.call("env", { name: "WHICH" })).toBe("new");
  });

  it("CF-9 a changed isolation replaces the server; a changed limit does not", async () => {
    const { hub, url } = await open(stateful());
    const a = await session(url);
    const pid = await a.call("pid");
    const entry = await hub.configuration.readEntry("it");
    await hub.configuration.updateServer("it", { ...entry, resilience: { max_instances: 1 } });
    expect(await a.call("pid")).toBe(pid);
    await (await session(url)).call("pid");
    await gone(pid);
    await hub.configuration.updateServer("it", { ...entry, isolation: "shared" });
    await untilState(hub, "it", "running");
    await until(async () => (await a.call("pid")) === String(hub.supervisor.get("it").pid));
    expect(instancesOf(hub)).toEqual([]);
  });

  it("SE-1 the stderr of instances is in the server's log, redacted", async () => {
    const secret = `tok_${randomUUID()}`;
    const { hub, url } = await open(stateful({ env: { API_KEY: "${KEY}" } }), { KEY: secret });
    const [a, b] = [await session(url), await session(url)];
    expect(await a.call("env", { name: "API_KEY" })).toBe(secret);
    await Promise.all([a, b].map((client, n) => client.call("complain", { text: `${n} says ${secret}` })));
    await until(() => hub.supervisor.get("it").logs(10).length === 2);
    expect(
      hub.supervisor
        .get("it")
        .logs(10)
        .map(({ text }) => text)
        .toSorted(),
    ).toEqual(["0 says ***", "1 says ***"]);
  });

  it("LC-2 on demand: the server is stopped when its last instance has ended", async () => {
    const { hub, url, home } = await open(stateful(resilience({ on_demand: true, idle_ms: 1 })));
    await untilState(hub, "it", "stopped");
    const a = await session(url);
    await a.call("remember", { text: "of a" });
    expect(hub.supervisor.get("it").status.state).toBe("running");
    expect(await a.call("recall")).toBe("of a");
    await a.end();
    await untilState(hub, "it", "stopped");
    expect(processesWithMark(home.mark)).toEqual([]);
    expect(await (await session(url)).call("recall")).toBe("nothing");
  });
});

describe("the built hub", () => {
  it("LC-5 a kill of the hub leaves no instance", async () => {
    const home = await makeHome(stateful());
    closing.push(() => home.remove());
    const hub = await startHub(home);
    closing.push(() => hub.kill());
    const [a, b] = [await session(`${hub.url}/mcp`), await session(`${hub.url}/mcp`)];
    await Promise.all([a.call("pid"), b.call("pid")]);
    expect(processesWithMark(home.mark)).toHaveLength(3);
    await hub.kill();
    await untilNoneWithMark(home.mark);
  });

  it("MG-1 MG-3 get, the management API and the metrics show instances", async () => {
    const home = await makeHome(stateful());
    closing.push(() => home.remove());
    const hub = await startHub(home);
    closing.push(async () => void (await hub.stop()));
    const a = await session(`${hub.url}/mcp`);
    const pid = await a.call("pid");
    expect((await plugboard(home, ["get", "it"])).stdout).toMatch(
      new RegExp(`isolation +per-session: 1 instance, pid ${pid}\\n`),
    );
    const shown = JSON.parse((await plugboard(home, ["get", "it", "--json"])).stdout);
    expect(shown).toMatchObject({
      config: { isolation: "per-session" },
      instances: [{ pid: Number(pid), since: expect.any(String) }],
    });
    const token = await tokenOf(home);
    const headers = { authorization: `Bearer ${token}` };
    const { body } = await http(`${hub.url}/metrics`, { method: "GET", headers });
    expect(body).toContain('hub_server_instances{server="it"} 1');
  });

  it.each(["legacy", "modern"] as const)("GR-7 over stdio, to a %s client", async (era) => {
    const home = await makeHome(stateful());
    closing.push(() => home.remove());
    const { process: child, finished } = launch(home, ["stdio"]);
    const messages = new Messages();
    let rest = "";
    child.stdout.on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) messages.push(JSON.parse(line));
    });
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const ask = async (id: number, method: string, params: object) => {
      const all = era === "modern" ? { ...params, _meta: meta } : params;
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params: all })}\n`);
      return (await messages.find((message) => message.id === id)).result;
    };
    if (era === "legacy") {
      await ask(0, "initialize", {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "t", version: "1" },
      });
    }
    const first = await ask(1, "tools/call", { name: "it:remember", arguments: { text: "kept" } });
    expect(first.content[0].text).toBe("kept");
    expect((await ask(2, "tools/call", { name: "it:recall", arguments: {} })).content[0].text).toBe("kept");
    expect(processesWithMark(home.mark)).toHaveLength(2);
    child.stdin.end();
    expect((await finished).code).toBe(0);
    expect(processesWithMark(home.mark)).toEqual([]);
  });
});
