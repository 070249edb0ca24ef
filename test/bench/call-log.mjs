// Measures the call log: appends with several calls per turn, then every kind of query over a million calls, then pruning.
// Usage: node test/bench/call-log.mjs [--rows 1000000] [--dist hub/dist] [--dir /tmp]

import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const { values: options } = parseArgs({
  options: {
    rows: { type: "string", default: "1000000" },
    dist: { type: "string", default: new URL("../../hub/dist", import.meta.url).pathname },
    dir: { type: "string", default: tmpdir() },
  },
});
const load = (file) => import(pathToFileURL(join(resolve(options.dist), file)).href);
const { SqliteCallLog } = await load("call-log/sqlite/sqlite-call-log.js");
const { Redactor } = await load("redaction/redactor.js");
const { Latency } = await load("calls/latency.js");

const DAY = 24 * 3_600_000;
const NOW = Date.now();
const rows = Number(options.rows);
const folder = await mkdtemp(join(options.dir, "plugboard-bench-"));
const say = (...cells) => process.stdout.write(`${cells.join("  ")}\n`);
const pick = (list) => list[Math.floor(Math.random() * list.length)];
const percentile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;

const redactor = new Redactor();
for (let server = 0; server < 10; server++)
  redactor.setSecrets(`s${server}`, [`ghp_${server}abcdefghijklmnopqrstuvwxyz`]);
const params = Buffer.from(JSON.stringify({ name: "echo", arguments: { text: "x".repeat(100) } }));
const result = Buffer.from(JSON.stringify({ content: [{ type: "text", text: "y".repeat(100) }] }));
const servers = Array.from({ length: 20 }, (_, index) => `server-${index}`);
const tools = Array.from({ length: 10 }, (_, index) => `tool-${index}`);

function entry(at) {
  const outcome = Math.random() > 0.02 ? "ok" : "failed";
  const failure = outcome === "ok" ? {} : { errorCode: pick(["NETWORK_ERROR", "SERVICE_UNAVAILABLE"]) };
  const call = {
    at,
    server: pick(servers),
    tool: pick(tools),
    group: pick(["default", "work"]),
    client: pick(["a", "b"]),
  };
  return { ...call, ...failure, params, result, outcome, durationMs: Math.exp(Math.random() * 12) / 100 };
}

function append(log, call) {
  log.begin(call).finish(call);
}

/** Appends `total` calls, `perTurn` in each turn of the event loop, and prints the cost of one. */
async function measureAppends(perTurn, total) {
  const log = new SqliteCallLog(join(folder, `append-${perTurn}.db`), { redactor });
  const entries = Array.from({ length: 4096 }, () => entry(NOW));
  const turns = [];
  let next = 0;
  const turn = async () => {
    for (let count = 0; count < perTurn; count++) append(log, entries[next++ % 4096]);
    await nextTurn();
  };
  for (let count = 0; count < 2000; count += perTurn) await turn();
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  for (let count = 0; count < total; count += perTurn) {
    const turnAt = performance.now();
    await turn();
    turns.push(performance.now() - turnAt);
  }
  const wall = performance.now() - startedAt;
  // Includes the work of the worker thread.
  await log.query({ limit: 1 });
  const { user, system } = process.cpuUsage(cpu);
  await log.close();
  turns.sort((a, b) => a - b);
  const [p50, p99, max] = [percentile(turns, 0.5), percentile(turns, 0.99), turns.at(-1)].map((ms) => ms.toFixed(2));
  say(
    `append, ${perTurn} per turn:`.padEnd(28),
    `${Math.round((total / wall) * 1000)} calls/s`,
    `CPU ${((user + system) / total).toFixed(1)} µs/call`,
    `turn p50 ${p50} p99 ${p99} max ${max} ms`,
  );
}

function measureLatency() {
  const latency = new Latency();
  const total = 1_000_000;
  const startedAt = performance.now();
  for (let count = 0; count < total; count++)
    latency.record(servers[count % 20], tools[count % 10], count % 1000, "ok");
  say("latency.record:".padEnd(28), `${(((performance.now() - startedAt) / total) * 1e6).toFixed(0)} ns/call`);
}

async function fill() {
  const retention = { maxRows: rows * 2, maxBytes: 64 * 1024 ** 3 };
  const log = new SqliteCallLog(join(folder, "calls.db"), { redactor, retention });
  for (let count = 0; count < rows; count += 500) {
    const age = ((rows - count) / rows) * 29 * DAY;
    for (let index = 0; index < 500; index++) append(log, entry(NOW - age + index));
    // No faster than the worker thread ingests.
    if (count % 50_000 === 0) await log.query({ limit: 1 });
  }
  append(log, { ...entry(NOW - 20 * DAY), server: "rare", tool: "rare", client: "rare", workflowId: "w1" });
  await log.query({ limit: 1 });
  say("file:".padEnd(28), `${((await stat(join(folder, "calls.db"))).size / 1e6).toFixed(0)} MB for ${rows} calls`);
  return log;
}

/** `ask` returns the number of results. */
async function measureQuery(name, ask) {
  const times = [];
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  let found = 0;
  for (let count = 0; count < 40; count++) {
    const startedAt = performance.now();
    found = await ask();
    times.push(performance.now() - startedAt);
  }
  delay.disable();
  times.sort((a, b) => a - b);
  say(
    name.padEnd(28),
    `p50 ${percentile(times, 0.5).toFixed(1)} p95 ${percentile(times, 0.95).toFixed(1)} max ${times.at(-1).toFixed(1)} ms`,
    `${found} found, loop held p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms`,
  );
}

/** With pauses, as a hub does once a day, and without them, as `doctor` does. */
async function measureScrub() {
  const [{ scrub }, { connect }] = await Promise.all([
    load("call-log/sqlite/call-table.js"),
    load("../../shared/dist/sqlite/driver.js"),
  ]);
  for (const [name, isStopped] of [["scrub:", () => false], ["scrub, without pauses:"]]) {
    const db = await connect(join(folder, "calls.db"));
    const before = process.cpuUsage();
    const startedAt = performance.now();
    const fault = await scrub(db, isStopped);
    const { user, system } = process.cpuUsage(before);
    const took = performance.now() - startedAt;
    say(name.padEnd(28), `${took.toFixed(0)} ms`, `CPU ${((user + system) / 1000).toFixed(0)} ms`, fault ?? "intact");
    await db.close();
  }
}

async function measurePrune(log) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const startedAt = performance.now();
  const removed = await log.prune(NOW + 3 * DAY);
  delay.disable();
  const took = performance.now() - startedAt;
  const held = [delay.percentile(99), delay.max].map((ns) => (ns / 1e6).toFixed(1));
  say("prune:".padEnd(28), `${removed} calls in ${took.toFixed(0)} ms`, `loop held p99 ${held[0]} max ${held[1]} ms`);
}

try {
  say(`Node ${process.version}`);
  for (const [perTurn, total] of [
    [1, 30_000],
    [16, 320_000],
    [64, 320_000],
  ]) {
    await measureAppends(perTurn, total);
  }
  measureLatency();
  const log = await fill();
  const second = (await log.query({ limit: 1000 })).next_cursor;
  const queries = {
    "the newest 50": {},
    "a page of 1,000": { limit: 1000 },
    "the next page of 1,000": { limit: 1000, cursor: second },
    server: { server: "server-3" },
    tool: { tool: "tool-3" },
    "server + tool": { server: "server-3", tool: "tool-3" },
    group: { group: "work" },
    client: { client: "b" },
    failures: { success: false },
    slow: { slowerThanMs: 1000 },
    "server + last hour": { server: "server-3", since: NOW - 3_600_000 },
    "one day, 20 days ago": { since: NOW - 20 * DAY, until: NOW - 19 * DAY },
    "server + failures + slow": { server: "server-3", success: false, slowerThanMs: 1500 },
    "after the last": { after: rows },
    "one rare server": { server: "rare" },
    "one rare client": { client: "rare" },
    "one workflow": { workflowId: "w1" },
    "nothing: slower than a day": { slowerThanMs: DAY },
    "nothing: in the future": { since: NOW + DAY },
    "nothing: unknown server": { server: "none" },
  };
  for (const [name, query] of Object.entries(queries)) {
    await measureQuery(name, async () => (await log.query(query)).items.length);
  }
  for (const [name, query] of Object.entries({
    "stats: all": {},
    "stats: 24 h": { since: NOW - DAY },
    "stats: server, 7 days": { server: "server-3", since: NOW - 7 * DAY },
  })) {
    await measureQuery(name, async () => (await log.stats(query)).length);
  }
  await measurePrune(log);
  await log.close();
  await measureScrub();
} finally {
  await rm(folder, { recursive: true, force: true });
}
