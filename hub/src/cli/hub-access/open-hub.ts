// Opens a hub inside a command, on the config that its options name, and stops it at the end.

import type { Hub } from "../../hub/hub.ts";
import type { ManagedServer } from "../../servers/server.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { shownKind } from "../input/kind.ts";
import type { Startup } from "../terminal/progress.ts";
import { hubFoldersOf } from "./run-file.ts";

/**
 * V8 counts message buffers, which are outside its heap, as if they were inside: the small heap of a hub was collected after
 * every dozen results of a megabyte, which took as long as forwarding them. The heap may now grow to four times its live
 * size. Set only here, not for programs that embed a hub.
 */
const HEAP_GROWTH = "--heap-growing-percent=300";
/** Servers are starting until then. */
const HEAP_GROWTH_AFTER_MS = 1000;

/** `onWaiting`: called while the hub waits for its database; without it, that is an error. */
export async function openHub(io: Io, options: GlobalOptions, onWaiting?: (problem: string) => void): Promise<Hub> {
  setTimeout(() => void growHeap(), HEAP_GROWTH_AFTER_MS).unref();
  const { Hub: HubClass } = await import("../../hub/hub.ts");
  return HubClass.open({ paths: hubFoldersOf(io, options), variables: io.env, home: io.home, onWaiting });
}

async function growHeap(): Promise<void> {
  const { setFlagsFromString } = await import("node:v8");
  setFlagsFromString(HEAP_GROWTH);
}

/** Runs `use` on a hub and stops the hub, also when interrupted. */
export async function withHub<T>(io: Io, options: GlobalOptions, use: (hub: Hub) => Promise<T>): Promise<T> {
  const hub = await openHub(io, options);
  io.onSignal(() => void hub.stop().then(() => io.exit(INTERRUPTED)));
  try {
    return await use(hub);
  } finally {
    await hub.stop();
  }
}

const INTERRUPTED = 130;

/** A server of a hub in this process, for the progress display. */
export function toStartup({
  name,
  status,
  installPosition: installPlace,
  config: { transport },
}: ManagedServer): Startup {
  return {
    name,
    kind: transport.type === "stdio" ? shownKind(transport.launcher, transport.command) : transport.type,
    status: status.state,
    ...("stage" in status ? { stage: status.stage } : {}),
    ...(installPlace === undefined ? {} : { install: installPlace }),
    ...("error" in status ? { error: status.error } : {}),
    ...("tools" in status ? { tools: status.tools } : {}),
  };
}
