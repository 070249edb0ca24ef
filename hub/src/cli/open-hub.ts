// Opens a hub inside a command, on the config that its options name, and makes sure that it is stopped again.

import type { Hub } from "../hub.ts";
import type { ManagedServer } from "../servers/server.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { shownKind } from "./kind.ts";
import type { Startup } from "./progress.ts";
import { placesOf } from "./record.ts";

/**
 * Messages are buffers outside of V8's heap, and it counts them as if they were in it: the small heap of a hub was searched for
 * garbage every dozen results of a megabyte, which took as long as passing them on. Now it may grow to four times what is
 * alive, as that of a busy program does anyway. Only here: a program that embeds a hub has its own mind.
 */
const HEAP_GROWTH = "--heap-growing-percent=300";
/** Until then a hub has servers to start. */
const HEAP_GROWTH_AFTER_MS = 1000;

export async function openHub(io: Io, options: GlobalOptions): Promise<Hub> {
  setTimeout(() => void growHeap(), HEAP_GROWTH_AFTER_MS).unref();
  const { Hub: HubClass } = await import("../hub.ts");
  return HubClass.open({ paths: placesOf(io, options), variables: io.env });
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

/** A server of a hub in this process, for the progress. */
export function toStartup({ name, status, installPlace, config: { transport } }: ManagedServer): Startup {
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
