// What recording costs a call through the whole hub: the same hub, the same load, in short turns with its call log and
// without. The machine's speed changes by the second, so only neighbours are compared, and the median of all pairs counts.
// What the log's thread does for a turn is waited for, and is part of its cost.
// Usage: node test/bench/call-cost.mjs [--pairs 40] [--calls 1500] [--flight 16] [--bytes 100]

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
    pairs: { type: "string", default: "40" },
    calls: { type: "string", default: "1500" },
    flight: { type: "string", default: "16" },
    bytes: { type: "string", default: "100" },
    role: { type: "string" },
  },
});
/** The hub has a core of its own, where that can be arranged: else its turns depend on what the others do just then. */
const canPin = spawnSync("taskset", ["-c", "1", "true"]).status === 0;
const onCore = (core, command) => (canPin ? ["taskset", "-c", String(core), ...command] : command);
const WARM_TURNS = 6;

if (options.role === undefined) await compare();
else await serve();

/** The hub under test, in a process of its own. Told `true` it records calls, told `false` it does not. */
async function serve() {
  const { Hub } = await import("../../hub/dist/hub.js");
  const { MemoryConfig } = await import("../../hub/dist/config/memory-store.js");
  const { SqliteCallLog } = await import("../../hub/dist/store/call-log.js");
  const { startFileLog } = await import("../../hub/dist/log.js");
  const home = process.env.PLUGBOARD_HOME;
  const paths = { config: home, data: home, state: home, cache: home };
  const echo = fileURLToPath(new URL("../fixtures/servers/echo.mjs", import.meta.url));
  const [command, ...args] = onCore(1, [process.execPath, echo]);
  const store = MemoryConfig.of({ mcpServers: { s: { command, args } } });
  const unrecorded = { finish() {} };
  let isOn = false;
  class SwitchedLog extends SqliteCallLog {
    begin(call) {
      return isOn ? super.begin(call) : unrecorded;
    }
  }
  const callLog = (redactor) => new SwitchedLog(join(home, "calls.db"), { redactor });
  const hub = await Hub.open({ paths, variables: process.env, store, callLog });
  await startFileLog(hub.events, join(home, "log.jsonl"));
  const url = await hub.listen({ host: "127.0.0.1", port: 0 });
  await hub.start();
  const turnTo = async (wanted) => {
    // A query is answered when all calls are in the database.
    if (isOn) await hub.callLog.query({ limit: 1 });
    isOn = wanted;
    process.send({ isOn });
  };
  process.on("message", (wanted) => void turnTo(wanted));
  process.once("disconnect", () => void hub.stop().then(() => process.exit(0)));
  process.send({ url });
}

async function compare() {
  if (canPin) spawnSync("taskset", ["-pc", "1", String(process.pid)]);
  const home = await mkdtemp(join(tmpdir(), "plugboard-bench-"));
  const [execPath, ...execArgv] = onCore(0, [process.execPath]);
  const hub = fork(here, ["--role", "hub"], { env: { ...process.env, PLUGBOARD_HOME: home }, execPath, execArgv });
  const ended = new Promise((resolve) => hub.once("exit", resolve));
  const heard = () =>
    new Promise((resolve, reject) => {
      hub.once("message", resolve);
      void ended.then((code) => reject(new Error(`the hub ended with ${code}`)));
    });
  try {
    const { url } = await heard();
    const turn = (isOn) => measure({ hub, url, heard, isOn });
    for (let n = 0; n < WARM_TURNS; n++) await turn(n % 2 === 0);
    const pairs = [];
    for (let n = 0; n < Number(options.pairs); n++) {
      // Which of them comes first changes: neither is always the one that cleans up after the other.
      const first = await turn(n % 2 === 0);
      const second = await turn(n % 2 !== 0);
      pairs.push(n % 2 === 0 ? { on: first, off: second } : { on: second, off: first });
    }
    report(pairs);
  } finally {
    if (hub.connected) hub.disconnect();
    await ended;
    await rm(home, { recursive: true, force: true });
  }
}

async function measure({ hub, url, heard, isOn }) {
  const answered = heard();
  hub.send(isOn);
  await answered;
  const calls = Number(options.calls);
  const cpuBefore = await cpuTime(hub.pid);
  const startedAt = performance.now();
  await load(url, calls);
  // Until what was recorded is in the database.
  const over = heard();
  hub.send(isOn);
  await over;
  return {
    us: ((performance.now() - startedAt) * 1000) / calls,
    cpuUs: ((await cpuTime(hub.pid)) - cpuBefore) / calls,
  };
}

function report(pairs) {
  const rows = [
    ["without", pairs.map(({ off }) => off)],
    ["with", pairs.map(({ on }) => on)],
  ];
  for (const [name, turns] of rows) {
    const perSecond = 1e6 / median(turns.map(({ us }) => us));
    say(
      name.padEnd(8),
      `${perSecond.toFixed(0)} calls/s`,
      `${median(turns.map(({ cpuUs }) => cpuUs)).toFixed(1)} us CPU per call`,
    );
  }
  const share = (key) => (100 * median(pairs.map(({ on, off }) => 1 - off[key] / on[key]))).toFixed(1);
  say(
    `recording: ${share("us")} % of throughput, ${share("cpuUs")} % of the CPU time of a call (medians of ${pairs.length} pairs)`,
  );
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

function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}

function say(...cells) {
  process.stdout.write(`${cells.join("  ")}\n`);
}
