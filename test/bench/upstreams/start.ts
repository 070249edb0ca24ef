// The upstream servers of a scenario: config entries for those that the target starts, processes for those that it reaches over
// HTTP.

import type { Pinning } from "../machine.ts";
import { programOf } from "../places.ts";
import { Running } from "../running.ts";
import { nextLine } from "../../support/processes.ts";
import type { Entry, UpstreamPlan } from "../targets/target.ts";

export interface Upstreams {
  readonly entries: Readonly<Record<string, Entry>>;
  stop(): Promise<void>;
}

export async function startUpstreams(plan: UpstreamPlan, { others }: Pinning): Promise<Upstreams> {
  const options = ["--tools", String(plan.tools), "--era", plan.era, ...(plan.sse === true ? ["--sse"] : [])];
  const line = (transport: string) => [...others, process.execPath, programOf(`upstreams/${transport}`), ...options];
  if (plan.transport === "stdio") {
    const [command = "", ...args] = line("stdio");
    return { entries: named(plan.servers, () => ({ command, args })), stop: async () => undefined };
  }
  // One process for all of them, because the growth of the hub is measured.
  const server = new Running(line("http"));
  const url = await nextLine(server.stdout);
  return { entries: named(plan.servers, (index) => ({ url: `${url}/${index}` })), stop: () => server.stop() };
}

function named(count: number, entry: (index: number) => Entry): Readonly<Record<string, Entry>> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${index}`, entry(index)]));
}
