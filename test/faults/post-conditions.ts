// P1 to P7: what must hold after every fault.

import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, vi } from "vitest";
import { formsOf } from "../support/api.ts";
import { isRunning, processesWithMark } from "../support/processes.ts";
import { OTHER, type FaultHub, type Outcome } from "./fault-hub.ts";

/** The resources that a hub without faults uses. */
export interface Baseline {
  readonly processes: readonly number[];
  readonly fds: number;
  readonly streams: number;
  readonly rssBytes: number;
}

const FD_TOLERANCE = 5;
const BACK_MS = 10_000;
const OTHER_CALLS = 5;
/** The heap may grow by garbage that is not collected yet, but not by the data that a fault sent. */
const RSS_GROWTH_BYTES = 160 << 20;

export async function takeBaseline(hub: FaultHub): Promise<Baseline> {
  return {
    processes: processesWithMark(hub.home.mark),
    fds: fdsOf(hub.pid),
    streams: (await hub.api("/status")).json.event_streams,
    rssBytes: memoryOf(hub.pid, "VmRSS"),
  };
}

/** Removes the servers that a test added, and requires that the hub is in the same state as before. */
export async function checkAfter(hub: FaultHub, before: Baseline): Promise<void> {
  await p1SameHub(hub);
  await p2OthersWork(hub);
  for (const outcome of hub.outcomes.splice(0)) {
    p3OneAnswer(outcome);
    await p4OneRow(hub, outcome);
  }
  await p6TrueStatus(hub);
  for (const name of hub.added.keys()) await hub.remove(name);
  await p5NothingLeft(hub, before);
  p7NoSecret(hub);
  nothingUnhandled(hub);
}

async function p1SameHub(hub: FaultHub): Promise<void> {
  const { exitCode, signalCode } = hub.running.process;
  if (exitCode !== null || signalCode !== null) expect.fail(`The hub has ended: ${hub.running.stderr()}`);
  expect((await hub.api("/status")).json).toMatchObject({ pid: hub.pid });
}

async function p2OthersWork(hub: FaultHub): Promise<void> {
  const ids = Array.from({ length: OTHER_CALLS }, (_, n) => `still here ${n}`);
  const answers = await Promise.all(ids.map((id) => hub.call(OTHER, "echo", { id })));
  expect(answers.map(({ text }) => text)).toEqual(ids);
}

function p3OneAnswer({ server, tool, answers, ms, deadlineMs }: Outcome): void {
  const what = `${server}:${tool}`;
  expect([what, answers]).toEqual([what, 1]);
  expect(ms, `${what} was answered after its deadline`).toBeLessThan(deadlineMs);
}

async function p4OneRow(hub: FaultHub, { server, tool, workflow, error, isError, rpcError }: Outcome): Promise<void> {
  const success = error === undefined && rpcError === undefined && !isError;
  const rows = await hub.calls(workflow);
  const code = error?.code ?? (success ? null : expect.stringMatching(/^(NETWORK_ERROR|VALIDATION_ERROR)$/));
  expect(rows).toMatchObject([{ server_name: server, tool_name: tool, success, error_code: code }]);
}

/** Requires that children, descriptors and streams are back to the baseline within ten seconds. */
async function p5NothingLeft(hub: FaultHub, before: Baseline): Promise<void> {
  const left = () => processesWithMark(hub.home.mark).filter((pid) => !before.processes.includes(pid));
  await vi.waitUntil(() => left().length === 0, { timeout: BACK_MS, interval: 20 }).catch(() => undefined);
  expect(left()).toEqual([]);
  // The hub briefly opens /proc files when one of its processes has ended.
  let fds = Infinity;
  const isBack = () => (fds = fdsOf(hub.pid) - before.fds) <= FD_TOLERANCE;
  await vi.waitUntil(isBack, { timeout: BACK_MS, interval: 50 }).catch(() => undefined);
  expect(fds, `descriptors are left open: ${describeFds(hub.pid)}`).toBeLessThanOrEqual(FD_TOLERANCE);
  expect((await hub.api("/status")).json.event_streams).toBeLessThanOrEqual(before.streams);
  expect(memoryOf(hub.pid, "VmRSS") - before.rssBytes, "the hub has grown").toBeLessThan(RSS_GROWTH_BYTES);
}

/** The status must match the process, and the metrics must match the status. */
async function p6TrueStatus(hub: FaultHub): Promise<void> {
  for (const name of [OTHER, ...hub.added.keys()]) {
    // The state may change between the two requests; then both are repeated.
    await vi.waitFor(
      async () => {
        const { status, pid, error, tools, config } = await hub.server(name);
        const metrics = await hub.metrics();
        expect(metrics).toContain(`hub_server_state{server="${name}",state="${status}"} 1`);
        expect(metrics).toContain(`hub_server_up{server="${name}"} ${status === "running" ? 1 : 0}`);
        const remote = config.url !== undefined;
        if (status === "running") expect(pid === null ? remote : isRunning(pid)).toBe(true);
        else expect(pid).toBeNull();
        if (status === "error") expect(error).toMatchObject({ code: expect.any(String), message: expect.any(String) });
        if (status === "running") expect(tools).not.toEqual([]);
      },
      { timeout: BACK_MS, interval: 50 },
    );
  }
}

function p7NoSecret(hub: FaultHub): void {
  const { dir } = hub.home;
  const outputs: [where: string, text: string][] = [
    ["stdout", hub.running.stdout()],
    ["stderr", hub.running.stderr()],
    ["events", JSON.stringify(hub.events.messages.all)],
    ["api", hub.read.splice(0).join("\n")],
    ...["state", "data"].flatMap((folder) => filesIn(join(dir, folder))),
  ];
  for (const form of formsOf(hub.marker)) {
    const where = outputs.filter(([, text]) => text.includes(form)).map(([name]) => name);
    expect(where, "a secret came out").toEqual([]);
  }
}

function nothingUnhandled(hub: FaultHub): void {
  expect(hub.running.stderr()).not.toMatch(/unhandled|uncaught|MaxListenersExceeded/i);
}

function filesIn(folder: string): [string, string][] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => [join(folder, name), readFileSync(join(folder, name), "latin1")]);
}

export function fdsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** The targets of open descriptors, with their counts. */
function describeFds(pid: number): string {
  const counts = new Map<string, number>();
  for (const fd of readdirSync(`/proc/${pid}/fd`)) {
    const kind = fdTarget(join(`/proc/${pid}/fd`, fd)).replace(/:\[\d+\]$/, "");
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].map(([kind, count]) => `${count} ${kind}`).join(", ");
}

function fdTarget(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "closed meanwhile";
  }
}

/** VmRSS is the current resident memory of a process, VmHWM its peak. */
export function memoryOf(pid: number, what: "VmRSS" | "VmHWM"): number {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  return 1024 * Number(new RegExp(`^${what}:\\s+(\\d+) kB$`, "m").exec(text)?.[1]);
}
