import { afterAll, afterEach, describe, expect, it } from "vitest";
import { fixture } from "../../../../test/support/hub.ts";
import { processesWithTag } from "../../../../test/support/processes.ts";
import { startRemote, type Remote } from "../../../../test/support/remote.ts";
import { normalizeServer } from "../../config/parse/normalize.ts";
import { HubError } from "../../errors.ts";
import { rawParams } from "../../protocol/rpc/jsonrpc.ts";
import { childEnvironment } from "../process/environment.ts";
import { Watchdog } from "../process/watchdog.ts";
import { launchCommand } from "../process/command-line.ts";
import { openStdio } from "./link.ts";
import { openRemote } from "./remote-link.ts";
import { resolveServer } from "../process/resolve.ts";
import { Upstream, type ConnectOptions } from "./upstream.ts";

const instance = `handshake-${process.pid}`;
const inflow = { perSecond: 1000 };
const watchdog = new Watchdog({ instance });
const upstreams: Upstream[] = [];
const remotes: Remote[] = [];
let starts = 0;

afterEach(async () => {
  for (const upstream of upstreams.splice(0)) await upstream.close();
  for (const { stop } of remotes.splice(0)) await stop();
  expect(processesWithTag(instance)).toEqual([]);
});
afterAll(() => watchdog.close());

/** Connects to a server and returns how often it was opened. */
async function connect(entry: object, options: Partial<ConnectOptions> = {}) {
  const resolved = await resolveServer(normalizeServer("it", entry), {
    variables: {},
    secrets: { get: () => Promise.resolve(undefined) },
  });
  let opened = 0;
  const stages: string[] = [];
  const connecting = Upstream.connect({
    known: undefined,
    probeMs: 5000,
    timeoutMs: 20_000,
    requestMs: 20_000,
    signal: new AbortController().signal,
    onListChanged: () => undefined,
    onResourceUpdated: () => undefined,
    onTaskNotification: () => undefined,
    onGap: () => undefined,
    onStage: (stage) => stages.push(stage),
    open: (handlers) => {
      opened++;
      if (resolved.transport.type !== "stdio") return openRemote(resolved, handlers, { inflow });
      const command = launchCommand(resolved, { instance, unique: String(++starts) });
      const env = childEnvironment(process.env, command.env, { tag: instance, launcher: "binary" });
      return openStdio({ ...command, env }, handlers, {
        watchdog,
        redact: (text) => text,
        inflow,
        watching: { silentMs: 200 },
      });
    },
    ...options,
  });
  return { connecting, opened: () => opened, stages };
}

async function connected(...args: Parameters<typeof connect>) {
  const attempt = await connect(...args);
  const upstream = await attempt.connecting;
  upstreams.push(upstream);
  return { ...attempt, upstream };
}

const call = (upstream: Upstream, name: string, args = {}, more = {}) =>
  upstream.forward({ method: "tools/call", params: rawParams({ name, arguments: args }), ...more });

async function heardBy(upstream: Upstream): Promise<unknown[]> {
  const reply = await call(upstream, "heard");
  if (!reply.ok) throw new Error("no answer");
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- our own fixture answers in this form
  return JSON.parse((reply.result.value as { content: { text: string }[] }).content[0]?.text ?? "");
}

describe("a known era decides the first request", () => {
  it.each([
    ["echo", undefined, "server/discover", "legacy"],
    ["echo", "legacy", "initialize", "legacy"],
    ["echo", "modern", "server/discover", "legacy"],
    ["modern", undefined, "server/discover", "modern"],
    ["modern", "modern", "server/discover", "modern"],
    ["modern", "legacy", "initialize", "modern"],
    ["dual", undefined, "server/discover", "modern"],
    ["dual", "legacy", "initialize", "legacy"],
  ] as const)("CL-2 %s, known as %s: first %s, then it is %s", async (name, known, first, era) => {
    const { upstream, opened, stages } = await connected(fixture(name), { known });
    expect(upstream.era).toBe(era);
    expect(upstream.isEraCertain).toBe(true);
    expect((await heardBy(upstream))[0]).toBe(first);
    expect(opened()).toBe(1);
    expect(stages).toEqual(["handshake"]);
  });
});

describe("stdio", () => {
  it("CL-2 a server that exits on the probe is started twice, and once if it is known to be legacy", async () => {
    expect((await connected(fixture("exits-on-probe"))).opened()).toBe(2);
    expect((await connected(fixture("exits-on-probe"), { known: "legacy" })).opened()).toBe(1);
  });

  it("CL-2 F14 a server that always exits is started twice, and the error has its stderr", async () => {
    const { connecting, opened } = await connect(fixture("exit-at-start"));
    await expect(connecting).rejects.toMatchObject({
      kind: "ProcessSpawnFailed",
      detail: "fatal: no configuration found",
    });
    expect(opened()).toBe(2);
  });

  it("CL-2 a server that ignores the probe gets the legacy handshake over the same pipe", async () => {
    const { upstream, opened } = await connected(fixture("silent-on-probe"), { probeMs: 200 });
    expect(upstream.info).toMatchObject({ era: "legacy", version: "2025-11-25" });
    expect(opened()).toBe(1);
    // No answer proves nothing: the server may be slow.
    expect(upstream.isEraCertain).toBe(false);
  });

  it.each(["log", "error"])("F16 a server that listens on HTTP is distinguished from a slow one (%s)", async (way) => {
    const script = `console.${way}("MCP server listening on http://127.0.0.1:3001/mcp"); setInterval(() => {}, 1000)`;
    const { connecting } = await connect({ command: process.execPath, args: ["-e", script] });
    await expect(connecting).rejects.toMatchObject({
      kind: "InitializationFailed",
      message: "The server does not speak over stdio: it listens at http://127.0.0.1:3001/mcp",
      detail: "MCP server listening on http://127.0.0.1:3001/mcp",
      hint: expect.stringContaining("--stdio"),
    });
  });

  it("LC-3 F15 a silent server fails in time, with its stderr", async () => {
    const { connecting } = await connect(fixture("hung"), { probeMs: 300, timeoutMs: 1500 });
    await expect(connecting).rejects.toMatchObject({
      kind: "Timeout",
      detail: "waiting for a database that is not there",
    });
  });

  it.each([
    ["before it is opened", 0],
    ["while it is asked", 300],
  ])("LC-4 cancelled %s: nothing is left", async (_, afterMs) => {
    const abort = new AbortController();
    if (afterMs === 0) abort.abort();
    const { connecting } = await connect(fixture("hung"), {
      signal: abort.signal,
      onStage: () => void setTimeout(() => abort.abort(), afterMs),
    });
    await expect(connecting).rejects.toMatchObject({ kind: "Cancelled" });
  });

  it("CL-2 F16 an unknown version is refused", async () => {
    const { connecting } = await connect(fixture("echo", "3000-01-01"));
    await expect(connecting).rejects.toMatchObject({ kind: "InitializationFailed" });
  });

  it("CL-1 F06 F09 F10 messages that answer nothing are counted", async () => {
    const { upstream } = await connected(fixture("noisy"));
    expect(upstream.counters.junk).toBeGreaterThan(10);
    expect(upstream.counters.unclaimed).toBeGreaterThan(2);
  });

  it("CL-3 F05 a late answer is counted and dropped", async () => {
    const { upstream } = await connected(fixture("late"));
    await expect(call(upstream, "hang", {}, { timeoutMs: 100 })).rejects.toMatchObject({ kind: "Timeout" });
    expect(JSON.stringify(await heardBy(upstream))).toContain("notifications/cancelled");
    expect(upstream.counters.unclaimed).toBe(1);
  });

  it("F02 a lost process is reported once, with its exit code", async () => {
    const { upstream } = await connected(fixture("echo"));
    process.kill(upstream.pid ?? 0, "SIGKILL");
    expect(await upstream.lost).toMatchObject({ kind: "ServerNotRunning", message: "The server was ended by SIGKILL" });
    await expect(call(upstream, "echo")).rejects.toBeInstanceOf(HubError);
  });
});

describe("HTTP", () => {
  it.each([
    ["legacy-http", [], "legacy"],
    ["legacy-http", ["--sse"], "legacy"],
    ["modern-http", [], "modern"],
    ["modern-http", ["--sse"], "modern"],
  ])("CL-2 CL-7 %s %j is %s", async (name, args, era) => {
    const remote = await startRemote(name, args);
    remotes.push(remote);
    const { upstream } = await connected(remote.entry);
    expect(upstream.era).toBe(era);
    expect((await upstream.list()).listing.tools.length).toBeGreaterThan(5);
  });

  it.each([
    ["--key=k", "UNAUTHENTICATED"],
    ["--status=403", "FORBIDDEN"],
    ["--status=429", "RATE_LIMITED"],
    ["--status=500", "NETWORK_ERROR"],
    ["--status=503", "NETWORK_ERROR"],
  ])("CL-2 %s is %s and does not determine the era", async (option, code) => {
    const remote = await startRemote("legacy-http", [option]);
    remotes.push(remote);
    const { connecting, opened } = await connect(remote.entry);
    await expect(connecting).rejects.toMatchObject({ code });
    expect(opened()).toBe(1);
  });
});
