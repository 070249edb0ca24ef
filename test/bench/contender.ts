// A target that runs in a scenario, with its upstream servers and the link to it, ready for slices of load.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../support/sockets.ts";
import { HttpLink } from "./load/http-link.ts";
import type { Link } from "./load/link.ts";
import { runSlice } from "./load/slice.ts";
import { SseLink } from "./load/sse-link.ts";
import { StdioLink } from "./load/stdio-link.ts";
import type { Pinning } from "./machine.ts";
import { callsOf, toolsNamed, type Phase } from "./phase.ts";
import { cpuTime, processesOf, residentKb, seesProcesses } from "./process-tree.ts";
import { Running } from "./running.ts";
import type { Face, Launch, Target, UpstreamPlan } from "./targets/target.ts";
import type { Era } from "./upstreams/server.ts";
import { startUpstreams } from "./upstreams/start.ts";

export interface ContenderOptions {
  readonly target: Target;
  readonly plan: UpstreamPlan;
  readonly clientEra: Era;
  readonly pinning: Pinning;
  /** Replaces the target's name if one target runs in several ways. */
  readonly label?: string;
}

export type Figures = Readonly<Record<string, number>>;

const START_LIMIT_MS = 60_000;
const RETRY_MS = 5;

interface Parts {
  readonly running: Running;
  readonly link: Link;
  readonly tools: readonly string[];
  readonly launch: Launch;
  readonly clientEra: Era;
  readonly coldMs: number;
  readonly close: () => Promise<void>;
}

export class Contender {
  readonly label: string;
  readonly link: Link;
  /** From the start to the first result of a tool. */
  readonly coldMs: number;
  readonly close: () => Promise<void>;
  readonly #tools: readonly string[];
  readonly #pids: readonly number[];
  readonly #launch: Launch;
  readonly #clientEra: Era;
  /** CPU time of the queries that wait for settling, which is not part of a call. */
  #askingUs = 0;

  private constructor(label: string, { running, link, tools, launch, clientEra, coldMs, close }: Parts) {
    this.#clientEra = clientEra;
    this.label = label;
    this.link = link;
    this.coldMs = coldMs;
    this.close = close;
    this.#tools = tools;
    this.#launch = launch;
    this.#pids = processesOf(running.pid);
  }

  /** Undefined if the target does not support the scenario. Throws if it should and fails. */
  static async open({ target, plan, clientEra, pinning, label }: ContenderOptions): Promise<Contender | undefined> {
    const folder = await mkdtemp(join(tmpdir(), "plugboard-bench-"));
    const closers: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })];
    const close = async () => {
      for (const closer of closers.splice(0).toReversed()) await closer();
    };
    try {
      const upstreams = await startUpstreams(plan, pinning);
      closers.push(() => upstreams.stop());
      const stage = { folder, plan, clientEra, pinning, upstreams: upstreams.entries, port: await freePort() };
      const launch = await target.launch(stage);
      if (launch === undefined) {
        await close();
        return undefined;
      }
      const startedAt = performance.now();
      const running = new Running([...pinning.target, ...launch.command], { env: launch.env ?? {}, cwd: folder });
      closers.push(() => running.stop());
      const expected = target.name === "direct" ? 1 : plan.servers;
      const { link, tools } = await firstCall(running, launch.face, { clientEra, expected });
      closers.push(() => link.close());
      const coldMs = performance.now() - startedAt;
      return new Contender(label ?? target.name, { running, link, tools, launch, clientEra, coldMs, close });
    } catch (error) {
      await close();
      throw error;
    }
  }

  /** Other clients of the same process. */
  linkWith(headers: Readonly<Record<string, string>>): Link {
    const { face } = this.#launch;
    if (face.kind !== "http") throw new Error("Only requests over HTTP have headers");
    return openLink({ ...face, headers: { ...face.headers, ...headers } }, this.#clientEra);
  }

  residentKb(): number {
    return residentKb(this.#pids);
  }

  /** In microseconds. */
  cpuTime(): number {
    return cpuTime(this.#pids);
  }

  /** Runs it until its code is compiled. */
  async warm(phase: Phase, ms: number, link = this.link): Promise<void> {
    await this.measure(phase, ms, link);
    // The first contender loads files into the system's cache for the others.
    await this.#launch.settle?.();
    const before = this.cpuTime();
    await this.#launch.settle?.();
    this.#askingUs = this.cpuTime() - before;
  }

  /** The cost of a slice. Includes the work that answered calls leave behind, because it delays later calls. */
  async measure(phase: Phase, ms: number, link = this.link): Promise<Figures> {
    const lanes = await link.lanes(callsOf(phase, this.#tools), { count: phase.flight });
    try {
      const answerBytes = phase.bytes;
      // It was idle during the slices of others: caches are cold and pages may be swapped out.
      await runSlice(lanes, { ms: ms / 2, answerBytes });
      const own = process.cpuUsage();
      const before = this.cpuTime();
      const { calls, elapsedMs, p50Ms, p99Ms } = await runSlice(lanes, { ms, answerBytes });
      const { user, system } = process.cpuUsage(own);
      const answered = this.cpuTime();
      await this.#launch.settle?.();
      const after = Math.max(answered, this.cpuTime() - this.#askingUs);
      return {
        perSecond: (calls * 1000) / (elapsedMs + (after - answered) / 1000),
        p50Ms,
        p99Ms,
        ...(seesProcesses ? { cpuUs: (after - before) / calls } : {}),
        generatorUs: (user + system) / calls,
      };
    } finally {
      for (const lane of lanes) lane.close();
    }
  }
}

interface Reached {
  readonly link: Link;
  readonly tools: readonly string[];
}

/** Retries until a tool of the last server has answered. */
async function firstCall(
  running: Running,
  face: Face,
  { clientEra, expected }: { readonly clientEra: Era; readonly expected: number },
): Promise<Reached> {
  if (face.kind !== "stdio") running.stdout.resume(); // a full pipe would block it
  const startedAt = performance.now();
  const stdio = face.kind === "stdio" ? new StdioLink(running) : undefined;
  for (;;) {
    const link = stdio ?? openLink(face, clientEra);
    try {
      const tools = await listTools(link);
      const name = toolsNamed("echo", tools)[expected - 1];
      if (name === undefined) throw new Error(`It offers ${tools.length} tools, and not those of ${expected} servers`);
      await link.ask({ method: "tools/call", params: { name, arguments: { text: "hello" } } });
      return { link, tools };
    } catch (error) {
      if (stdio === undefined) link.close();
      const tooLate = performance.now() - startedAt > START_LIMIT_MS;
      if (running.hasEnded || tooLate) throw new Error(`It does not answer: ${String(error)}`, { cause: error });
      await sleep(RETRY_MS);
    }
  }
}

function openLink(face: Face, era: Era): Link {
  if (face.kind === "stdio") throw new Error("A pipe is opened once");
  return face.kind === "sse" ? new SseLink(face.url) : new HttpLink(face.url, { era, headers: face.headers });
}

async function listTools(link: Link): Promise<string[]> {
  const names: string[] = [];
  let cursor: unknown;
  do {
    const page = await link.ask({ method: "tools/list", params: cursor === undefined ? {} : { cursor } });
    names.push(...(page["tools"] as { name: string }[]).map(({ name }) => name));
    cursor = page["nextCursor"];
  } while (cursor !== undefined);
  return names;
}
