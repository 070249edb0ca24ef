// The cost of an npm server run by npx, and installed by the hub: the time from its start until its tools are known, and the
// memory of all its processes a second later. The variants alternate, because the speed of the machine changes. The first start
// of each is reported separately: it downloads.
// Usage: node test/bench/npm-start.mjs [--turns 5] [package …]

import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Hub } from "../../hub/dist/hub/hub.js";
import { ConfigFiles } from "../../hub/dist/config/files/config-files.js";

const { values, positionals } = parseArgs({
  options: { turns: { type: "string", default: "5" } },
  allowPositionals: true,
});
const packages = positionals.length > 0 ? positionals : ["server-everything", "server-memory"].map(official);
const home = await mkdtemp(join(tmpdir(), "plugboard-bench-"));
const paths = { config: join(home, "config"), data: join(home, "data"), state: home, cache: home };
const files = new ConfigFiles(paths.config);
const settings = { cwd: home, env: { BENCH_MARK: home } };
for (const [index, name] of packages.entries()) {
  for (const npm of ["npx", "managed"]) {
    await files.createServer({ name: `${npm}-${index}`, command: "npx", args: ["-y", name], npm, ...settings });
  }
}
const hub = await Hub.open({ paths, variables: { ...process.env, HOME: homedir() } });
for (const [index, name] of packages.entries()) {
  const seen = { npx: [], managed: [] };
  for (let turn = 0; turn <= Number(values.turns); turn++) {
    for (const mode of turn % 2 === 0 ? ["npx", "managed"] : ["managed", "npx"])
      seen[mode].push(await start(`${mode}-${index}`));
  }
  process.stdout.write(`${name}\n`);
  for (const [mode, [first, ...turns]] of Object.entries(seen)) {
    const column = (key, digits) =>
      spread(
        turns.map((each) => each[key]),
        digits,
      );
    process.stdout.write(
      `  ${mode.padEnd(8)} start ${column("seconds", 2)} s  RSS ${column("rss", 0)} MB  PSS ${column("pss", 0)} MB` +
        `  processes ${turns[0].count}  first start ${first.seconds.toFixed(1)} s\n`,
    );
  }
}
await hub.stop();
await rm(home, { recursive: true, force: true });

function official(name) {
  return `@modelcontextprotocol/${name}`;
}

/** The hub is opened but not started, so that nothing runs before the first measurement. */
async function start(name) {
  const server = hub.supervisor.get(name);
  const startedAt = performance.now();
  await server.start();
  const seconds = (performance.now() - startedAt) / 1000;
  await delay(1000);
  const memory = await memoryOf(`BENCH_MARK=${home}`);
  await server.stop();
  return { seconds, ...memory };
}

/** All processes with the mark in their environment. */
async function memoryOf(mark) {
  const total = { rss: 0, pss: 0, count: 0 };
  for (const pid of (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry))) {
    const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
    if (!environment.split("\0").includes(mark)) continue;
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, "latin1").catch(() => "");
    total.rss += Number(/^Rss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024;
    total.pss += Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024;
    total.count++;
  }
  return total;
}

/** Median, and the extremes. */
function spread(figures, digits) {
  const sorted = figures.toSorted((a, b) => a - b);
  const [low, middle, high] = [0, Math.floor(sorted.length / 2), sorted.length - 1].map((at) =>
    sorted[at].toFixed(digits),
  );
  return `${middle} (${low} to ${high})`;
}
