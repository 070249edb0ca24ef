// The parts of the benchmark work correctly. Nothing here measures speed.

import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { processesWithCommand, seesTags } from "../support/processes.ts";
import { Contender } from "./contender.ts";
import { UNPINNED } from "./machine.ts";
import { calls, callsOf, lists, toolsNamed } from "./phase.ts";
import { programOf } from "./places.ts";
import { parseOptions } from "./options.ts";
import type { RunFile } from "./report/results.ts";
import { runRounds } from "./scenarios/scenario.ts";
import { SCENARIOS } from "./scenarios/scenarios.ts";
import { direct, thin, thinBridge } from "./targets/floor.ts";
import { plugboard, plugboardBridge, plugboardOwn } from "./targets/plugboard.ts";
import type { Target, UpstreamPlan } from "./targets/target.ts";
import type { Era } from "./upstreams/server.ts";

const stdio = (era: Era, more: Partial<UpstreamPlan> = {}): UpstreamPlan => ({
  transport: "stdio",
  era,
  servers: 1,
  tools: 2,
  ...more,
});
const http = (era: Era, more: Partial<UpstreamPlan> = {}) => stdio(era, { ...more, transport: "http" });

interface Row {
  readonly target: Target;
  readonly what: string;
  readonly plan: UpstreamPlan;
  readonly era: Era;
}

const ROWS = (["legacy", "modern"] as const).flatMap((era): Row[] => [
  { target: direct, what: "itself", plan: stdio(era), era },
  { target: direct, what: "itself, as event streams", plan: http(era, { sse: true }), era },
  { target: thin, what: "a stdio server", plan: stdio(era), era },
  { target: thin, what: "three stdio servers", plan: stdio(era, { servers: 3 }), era },
  { target: thin, what: "an HTTP server", plan: http(era), era },
  { target: thin, what: "an HTTP server with event streams", plan: http(era, { sse: true }), era },
]);

const open = async (target: Target, plan: UpstreamPlan, clientEra: Era) => {
  const contender = await Contender.open({ target, plan, clientEra, pinning: UNPINNED });
  if (contender === undefined) throw new Error(`${target.name} cannot do it`);
  return contender;
};

/** Large enough for many chunks, and not a multiple of a buffer size. */
const LONG = 'é"\\'.repeat(40_001);

async function answersRight(contender: Contender, servers: number): Promise<void> {
  const { tools } = (await contender.link.ask({ method: "tools/list", params: {} })) as { tools: { name: string }[] };
  const names = tools.map(({ name }) => name);
  const echoes = toolsNamed("echo", names);
  expect(echoes).toHaveLength(servers);
  for (const name of echoes) {
    const result = await contender.link.ask({ method: "tools/call", params: { name, arguments: { text: LONG } } });
    expect(result).toMatchObject({ content: [{ type: "text", text: LONG }] });
  }
  const [call] = callsOf(calls("10 KB", 1), names);
  const sized = call && (await contender.link.ask(call));
  expect(sized).toMatchObject({ content: [{ text: "x".repeat(10_000) }] });
  await expect(contender.link.ask({ method: "no/such", params: {} })).rejects.toThrow("No result");
}

describe.each(ROWS)("$target.name before $what", ({ target, plan, era }) => {
  it(`answers ${era} clients correctly, sequentially and concurrently`, async () => {
    const contender = await open(target, plan, era);
    try {
      await answersRight(contender, target === direct ? 1 : plan.servers);
      const figures = await contender.measure(calls("100 B", 16, { spread: true }), 0);
      expect(Object.values(figures).every((value) => Number.isFinite(value) && value >= 0)).toBe(true);
    } finally {
      await contender.close();
    }
  });
});

it.each([thinBridge, plugboardBridge, plugboardOwn])(
  "$name brings an HTTP server to stdin and stdout",
  async (target) => {
    const contender = await open(target, http("legacy"), "legacy");
    try {
      await answersRight(contender, 1);
      expect(await contender.measure(calls("100 B", 16), 0)).toBeDefined();
    } finally {
      await contender.close();
    }
  },
);

it("a wrong answer fails the run", async () => {
  const contender = await open(direct, stdio("legacy"), "legacy");
  try {
    await expect(contender.measure({ ...calls("100 B", 1), bytes: 100, kind: "list" }, 0)).resolves.toBeDefined();
    await expect(contender.measure(lists(1, 1_000_000), 0)).rejects.toThrow("A wrong answer");
  } finally {
    await contender.close();
  }
});

it("a scenario samples every target in every phase and round, and leaves nothing running", async () => {
  const bench = { pinning: UNPINNED, rounds: 2, sliceMs: 0, warmMs: 0, peers: false, leftOut: () => undefined };
  const plan = stdio("legacy", { servers: 2 });
  const targets = [direct, thin, plugboard];
  const phases = [calls("100 B", 1), calls("1 MB", 2), lists(1, 100)];
  const upstreams = () => (seesTags ? processesWithCommand(programOf("upstreams/stdio")) : []);
  const before = upstreams();
  const samples = await runRounds(
    bench,
    targets.map((target) => ({ target, plan, clientEra: "legacy" })),
    phases,
  );
  const seen = samples.map(({ target, phase, round }) => `${round} ${phase} ${target}`).toSorted();
  const expected = [0, 1].flatMap((round) =>
    phases.flatMap(({ name }) => targets.map((target) => `${round} ${name} ${target.name}`)),
  );
  expect(seen).toEqual(expected.toSorted());
  expect(samples.every(({ figures }) => (figures["perSecond"] ?? 0) > 0)).toBe(true);
  await expect.poll(upstreams, { timeout: 20_000 }).toEqual(before);
});

it("a target that lacks a feature is left out and named", async () => {
  const missing: string[] = [];
  const leftOut = (target: string) => void missing.push(target);
  const bench = { pinning: UNPINNED, rounds: 1, sliceMs: 0, warmMs: 0, peers: false, leftOut };
  const samples = await runRounds(bench, [{ target: thin, plan: stdio("legacy"), clientEra: "modern" }], []);
  expect([samples, missing]).toEqual([[], ["thin"]]);
});

describe("the command", () => {
  const run = promisify(execFile);
  const main = (...args: string[]) => run(process.execPath, [programOf("main"), ...args]);

  it("runs one scenario, prints its tables and writes its files", async () => {
    const out = await mkdtemp(join(tmpdir(), "plugboard-bench-"));
    try {
      const args = ["--quick", "--only", "mixed", "--rounds", "1", "--no-peers", "--no-pin", "--out", out];
      const { stdout } = await main(...args);
      expect(stdout).toMatch(/\| plugboard +\| [\d,.]+ \(\d\.\d\d\)/);
      const { scenarios } = JSON.parse(await readFile(join(out, "bench.json"), "utf8")) as RunFile;
      expect(Object.keys(scenarios)).toEqual(["mixed"]);
      expect(await readFile(join(out, "bench.svg"), "utf8")).toContain("<svg ");
    } finally {
      await rm(out, { recursive: true, force: true });
    }
  });

  it("an unknown scenario is an error that lists the scenarios", async () => {
    await expect(main("--only", "nothing")).rejects.toThrow(SCENARIOS.map(({ name }) => name).join(", "));
  });

  it("parses its options", () => {
    expect(parseOptions(["--quick"]).rounds).toBeLessThan(parseOptions([]).rounds);
    expect(parseOptions(["--only", "a,b", "--no-peers"])).toMatchObject({ only: ["a", "b"], peers: false });
    expect(() => parseOptions(["--rounds", "none"])).toThrow("--rounds");
  });
});
