// States of the sources, written by the leader process for the others into a small file next to the store.

import { randomUUID } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { z } from "zod";
import type { SourceState } from "../model/source.ts";

const States = z.record(
  z.string(),
  z.union([
    z.object({ status: z.enum(["connected", "connecting"]) }),
    z.object({
      status: z.enum(["disconnected", "needs_auth", "error"]),
      message: z.string(),
      howToConnect: z.string(),
    }),
  ]),
);

export function writeSharedStates(path: string, states: ReadonlyMap<string, SourceState>): void {
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, JSON.stringify(Object.fromEntries(states)), { mode: 0o600, flag: "wx" });
  renameSync(draft, path);
}

/** Empty if there is no valid file. */
export function readSharedStates(path: string): ReadonlyMap<string, SourceState> {
  try {
    return new Map(Object.entries(States.parse(JSON.parse(readFileSync(path, "utf8")))));
  } catch {
    return new Map();
  }
}
