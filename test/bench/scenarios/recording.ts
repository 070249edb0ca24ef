// The cost of recording calls, in the call log and the latencies: the same hub, alternating with and without both. The slice
// waits for the log's worker thread, which is part of the cost.

import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HttpLink } from "../load/http-link.ts";
import { runSlice, warmUp } from "../load/slice.ts";
import type { Figures } from "../contender.ts";
import { calls, callsOf } from "../phase.ts";
import { programOf } from "../places.ts";
import { cpuTime, processesOf, seesProcesses } from "../process-tree.ts";
import { startUpstreams } from "../upstreams/start.ts";
import type { Bench, Sample, Scenario } from "./scenario.ts";

/** Pairs of both variants; many, because the difference is small. */
const PAIRS_PER_ROUND = 6;
const WARM_TURNS = 4;
/** Longer than in other scenarios: every slice begins with new connections and ends with a wait for the thread. */
const SLICES_PER_TURN = 4;
const PHASE = calls("100 B", 16);
const PLAN = { transport: "stdio", era: "legacy", servers: 1, tools: 2 } as const;

export const recording: Scenario = {
  name: "recording",
  title: "Call log and metrics, on and off",
  run: async (bench) => {
    const folder = await mkdtemp(join(tmpdir(), "plugboard-bench-"));
    const { entries } = await startUpstreams(PLAN, bench.pinning);
    const hub = await SwitchedHub.start(bench, folder, entries);
    try {
      const link = new HttpLink(hub.url, { era: "legacy" });
      const turnMs = SLICES_PER_TURN * bench.sliceMs;
      for (let turn = 0; turn < WARM_TURNS; turn++) await hub.measure(link, turn % 2 === 0, turnMs);
      const samples: Sample[] = [];
      for (let round = 0; round < bench.rounds * PAIRS_PER_ROUND; round++) {
        // The order alternates, so that neither variant always cleans up after the other.
        for (const isOn of round % 2 === 0 ? [true, false] : [false, true]) {
          const figures = await hub.measure(link, isOn, turnMs);
          samples.push({ target: isOn ? "on" : "off", phase: PHASE.name, round, figures });
        }
      }
      return samples;
    } finally {
      await hub.stop();
      await rm(folder, { recursive: true, force: true });
    }
  },
};

class SwitchedHub {
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(url: string, hub: ChildProcess) {
    this.url = url;
    this.#process = hub;
    this.#ended = once(hub, "exit");
  }

  static async start({ pinning }: Bench, home: string, entries: object): Promise<SwitchedHub> {
    const [execPath, ...execArgv] = [...pinning.target, process.execPath];
    const env = { ...process.env, PLUGBOARD_HOME: home, BENCH_SERVERS: JSON.stringify(entries) };
    const hub = fork(programOf("scenarios/switched-hub"), [], { env, execPath, execArgv });
    const [{ url }] = (await once(hub, "message")) as [{ url: string }];
    return new SwitchedHub(url, hub);
  }

  async measure(link: HttpLink, isOn: boolean, ms: number): Promise<Figures> {
    await this.#turnTo(isOn);
    const lanes = await link.lanes(callsOf(PHASE, ["echo"]), { count: PHASE.flight });
    const options = { answerBytes: PHASE.bytes };
    await warmUp(lanes, options);
    const pids = processesOf(this.#process.pid ?? 0);
    const before = cpuTime(pids);
    const { calls: done, elapsedMs } = await runSlice(lanes, { ...options, ms });
    for (const lane of lanes) lane.close();
    const startedAt = performance.now();
    await this.#turnTo(isOn);
    const left = performance.now() - startedAt;
    const perSecond = (done * 1000) / (elapsedMs + left);
    return seesProcesses ? { perSecond, cpuUs: (cpuTime(pids) - before) / done } : { perSecond };
  }

  async stop(): Promise<void> {
    if (this.#process.connected) this.#process.disconnect();
    await this.#ended;
  }

  /** Answered when all recorded calls are in the database. */
  async #turnTo(isOn: boolean): Promise<void> {
    const answered = once(this.#process, "message");
    this.#process.send(isOn);
    await answered;
  }
}
