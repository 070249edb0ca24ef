// What recording costs a call through the whole hub: the same load against a hub with its call log and one without, each a
// fresh process, in turns. CPU of the hub's own process per call is the figure to trust on a machine that others use too.
// Usage: node test/bench/call-cost.mjs [--rounds 5] [--calls 20000] [--flight 16] [--bytes 100]

import { fork, spawnSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const here = fileURLToPath(import.meta.url);
const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    calls: { type: "string", default: "20000" },
    flight: { type: "string", default: "16" },
    bytes: { type: "string", default: "100" },
    role: { type: "string" },
  },
});
const VARIANTS = ["none", "sqlite"];
/** The hub has a core of its own, where that can be arranged: else its turns depend on what the others do just then. */
const canPin = spawnSync("taskset", ["-c", "1", "true"]).status === 0;
const onCore = (core, command) => (canPin ? ["taskset", "-c", String(core), ...command] : command);
const WARM_CALLS = 3000;

if (options.role === undefined) await compare();
else await serve(options.role);

/** The hub under test, in a process of its own. */
async function serve(variant) {
  const { Hub } = await import("../../hub/dist/hub.js");
  const { MemoryConfig } = await import("../../hub/dist/config/memory-store.js");
  const { startFileLog } = await import("../../hub/dist/log.js");
  const home = process.env.PLUGBOARD_HOME;
  const paths = { config: home, data: home, state: home, cache: home };
  const echo = fileURLToPath(new URL("../fixtures/servers/echo.mjs", import.meta.url));
  const [command, ...args] = onCore(1, [process.execPath, echo]);
  const store = MemoryConfig.of({ mcpServers: { s: { command, args } } });
  const none = {
    begin: () => ({ finish() {} }),
    recover() {},
    close: () => Promise.resolve(),
    degraded: undefined,
    lost: 0,
  };
  const callLog = variant === "none" ? { callLog: () => none } : {};
  const hub = await Hub.open({ paths, variables: process.env, store, ...callLog });
  await startFileLog(hub.events, join(home, "log.jsonl"));
  const url = await hub.listen({ host: "127.0.0.1", port: 0 });
  await hub.start();
  process.once("disconnect", () => void hub.stop().then(() => process.exit(0)));
  process.send({ url });
}

async function compare() {
  if (canPin) spawnSync("taskset", ["-pc", "1", String(process.pid)]);
  const measured = Object.fromEntries(VARIANTS.map((variant) => [variant, []]));
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const variant of VARIANTS) measured[variant].push(await measure(variant));
  }
  for (const variant of VARIANTS) {
    const { perSecond, cpuUs } = medians(measured[variant]);
    say(variant.padEnd(8), `${perSecond.toFixed(0)} calls/s`, `${cpuUs.toFixed(1)} us CPU per call`);
  }
  const [none, sqlite] = VARIANTS.map((variant) => medians(measured[variant]));
  say(`recording: ${(100 * (1 - sqlite.perSecond / none.perSecond)).toFixed(1)} % of throughput,`);
  say(`           ${(100 * (1 - none.cpuUs / sqlite.cpuUs)).toFixed(1)} % of the CPU time of a call`);
}

async function measure(variant) {
  const home = await mkdtemp(join(tmpdir(), "plugboard-bench-"));
  const [execPath, ...execArgv] = onCore(0, [process.execPath]);
  const hub = fork(here, ["--role", variant], { env: { ...process.env, PLUGBOARD_HOME: home }, execPath, execArgv });
  try {
    const url = await new Promise((resolve, reject) => {
      hub.once("message", (message) => resolve(message.url));
      hub.once("exit", (code) => reject(new Error(`the hub ended with ${code}`)));
    });
    await load(url, WARM_CALLS);
    const cpuBefore = await cpuTime(hub.pid);
    const startedAt = performance.now();
    const calls = Number(options.calls);
    await load(url, calls);
    const seconds = (performance.now() - startedAt) / 1000;
    return { perSecond: calls / seconds, cpuUs: ((await cpuTime(hub.pid)) - cpuBefore) / calls };
  } finally {
    const ended = new Promise((resolve) => hub.once("exit", resolve));
    if (hub.connected) hub.disconnect();
    await ended;
    await rm(home, { recursive: true, force: true });
  }
}

/** Keeps `flight` calls under way. On bare sockets: the generator must stay cheaper than what it measures. */
async function load(url, calls) {
  const { hostname, port } = new URL(url);
  const request = requestBytes(hostname);
  let left = calls;
  const lane = () =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname).setNoDelay().once("error", reject);
      let answer = "";
      const next = () => (left-- > 0 ? socket.write(request) : socket.end(resolve));
      socket.setEncoding("latin1").on("data", (piece) => {
        answer += piece;
        const end = answer.indexOf("\r\n\r\n");
        const length = /content-length: (\d+)/i.exec(answer)?.[1];
        if (end < 0 || answer.length < end + 4 + Number(length)) return;
        if (!answer.includes('"result"')) reject(new Error(answer));
        answer = "";
        next();
      });
      next();
    });
  await Promise.all(Array.from({ length: Number(options.flight) }, lane));
}

function requestBytes(host) {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { name: "echo", arguments: { text: "x".repeat(Number(options.bytes)) }, _meta };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const head = [
    "POST /mcp HTTP/1.1",
    `host: ${host}`,
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    "mcp-protocol-version: 2026-07-28",
    "mcp-method: tools/call",
    "mcp-name: echo",
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`);
}

/** Time that all threads of a process were on a CPU. */
async function cpuTime(pid) {
  const threads = await readdir(`/proc/${pid}/task`);
  const stats = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, "utf8")));
  return stats.reduce((sum, stat) => sum + Number(stat.split(" ")[0]) / 1000, 0);
}

function medians(rounds) {
  const median = (key) => rounds.map((round) => round[key]).toSorted((a, b) => a - b)[rounds.length >> 1];
  return { perSecond: median("perSecond"), cpuUs: median("cpuUs") };
}

function say(...cells) {
  process.stdout.write(`${cells.join("  ")}\n`);
}
