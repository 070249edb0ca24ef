// The states of the sources, told by the process that runs them to those that only read: a small file beside the store.

import { randomUUID } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { z } from "zod";
import type { SourceState } from "../source.ts";

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

export function tellStates(path: string, states: ReadonlyMap<string, SourceState>): void {
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, JSON.stringify(Object.fromEntries(states)), { mode: 0o600, flag: "wx" });
  renameSync(draft, path);
}

/** Empty where nobody has told any. */
export function hearStates(path: string): ReadonlyMap<string, SourceState> {
  try {
    return new Map(Object.entries(States.parse(JSON.parse(readFileSync(path, "utf8")))));
  } catch {
    return new Map();
  }
}
