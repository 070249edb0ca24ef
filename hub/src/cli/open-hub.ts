// Opens a hub inside a command, on the config that its options name, and makes sure that it is stopped again.

import { hubPaths } from "../config/paths.ts";
import { Hub } from "../hub.ts";
import type { GlobalOptions, Io } from "./io.ts";

export function openHub(io: Io, { config }: GlobalOptions): Promise<Hub> {
  const paths = hubPaths(io);
  return Hub.open({ paths: config === undefined ? paths : { ...paths, config }, variables: io.env });
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
