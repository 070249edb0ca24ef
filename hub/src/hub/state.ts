// The hub's persistent state in the data folder: opened before the hub is built, saved when it stops.

import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Retention } from "../call-log/port.ts";
import { EntryTimes, entryTimesFile } from "../config/files/entry-times.ts";
import type { HubPaths } from "../config/files/paths.ts";
import { sweepTemps } from "../config/files/sweep.ts";
import type { CallLogEntry } from "../config/schema/call-log.ts";
import type { ClusterDatabase } from "../database/open.ts";
import { keptFile } from "../lib/files/kept-text.ts";
import { SessionFile } from "../mcp/session-file.ts";
import { TaskIds } from "../mcp/tasks/task-ids.ts";
import { IDLE_MS, RECORD_MS } from "../protocol/serve/http-session.ts";
import { EraMemory } from "../servers/connection/era-memory.ts";
import { Packages } from "../servers/npm/packages.ts";
import { Completions } from "../registry/completions.ts";
import { runnableKinds } from "../registry/registries.ts";
import { ListingCache } from "../servers/resilience/listing-cache.ts";
import { ListingFiles } from "../servers/resilience/listing-files.ts";

export interface HubState {
  readonly eras: EraMemory;
  readonly listings: ListingCache | undefined;
  readonly packages: Packages | undefined;
  readonly taskIds: TaskIds;
  readonly times: EntryTimes;
  readonly completions: Completions;
}

export interface HubStateOptions {
  readonly paths: HubPaths;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Keep everything in memory: no file is read or written. */
  readonly isInMemory: boolean;
  /** Keep in it what the replicas of a hub share. */
  readonly database: Pick<ClusterDatabase, "listings" | "kept" | "taskKey"> | undefined;
  readonly onWarning: (message: string) => void;
}

/** Default for running npm packages: `managed` or `npx`. */
const NPM_VARIABLE = "PLUGBOARD_NPM";

export async function openHubState(options: HubStateOptions): Promise<HubState> {
  const { paths, variables, isInMemory, database, onWarning } = options;
  const runnable = await runnableKinds(variables["PATH"]);
  if (isInMemory) {
    const [eras, times, completions] = await Promise.all([
      EraMemory.open(undefined, onWarning),
      EntryTimes.open(undefined),
      Completions.open({ kept: undefined, runnable }),
    ]);
    return { eras, listings: undefined, packages: undefined, taskIds: new TaskIds(), times, completions };
  }
  await mkdir(paths.data, { recursive: true, mode: 0o700 });
  const listings = new ListingCache(database?.listings ?? new ListingFiles(join(paths.data, "listings")), {
    onWarning,
  });
  const [eras, packages, taskIds, times, completions] = await Promise.all([
    EraMemory.open(database?.kept("eras") ?? keptFile(join(paths.data, "eras.json")), onWarning),
    openPackages(options),
    database === undefined ? TaskIds.open(join(paths.data, "task-ids.key"), onWarning) : new TaskIds(database.taskKey),
    EntryTimes.open(database?.kept("entry times") ?? keptFile(join(paths.data, entryTimesFile(paths.config)))),
    Completions.open({ kept: keptFile(join(paths.data, "registry-servers.json")), runnable }),
    sweepTemps(paths),
  ]);
  return { eras, listings, packages, taskIds, times, completions };
}

/** Resolves when everything is on disk. */
export async function saveHubState({ eras, listings, packages, taskIds, times }: HubState): Promise<void> {
  await Promise.all([eras.saved(), listings?.saved(), taskIds.saved(), times.saved(), packages?.release()]);
}

/** Records of legacy sessions. One file per address: clients reconnect to the same address, and only one process can listen there. */
export function openSessionFile(paths: HubPaths, url: string, onWarning: HubStateOptions["onWarning"]): SessionFile {
  const path = join(paths.data, "sessions", `${fileNameOf(url)}.ndjson`);
  return new SessionFile({ path, maxAgeMs: IDLE_MS + RECORD_MS, onWarning });
}

/** One folder per config folder: hubs with different ones may share a data folder. */
export function approvalsPath(paths: HubPaths): string {
  return join(paths.data, "approvals", createHash("sha256").update(paths.config).digest("hex").slice(0, 12));
}

/** The file of the browsers that are signed in, for the same reason one per address. */
export function uiSessionsPath(paths: HubPaths, url: string): string {
  return join(paths.data, "ui-sessions", `${fileNameOf(url)}.json`);
}

function fileNameOf(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname.replaceAll(/[^\w.]/g, "_")}-${port}`;
}

const DAY_MS = 24 * 3_600_000;

/** What the config says about the call log; the log has defaults for the rest. */
export function toRetention({ retention_days, max_bytes }: CallLogEntry = {}): Partial<Retention> {
  return {
    ...(retention_days === undefined ? {} : { maxAgeMs: retention_days * DAY_MS }),
    ...(max_bytes === undefined ? {} : { maxBytes: max_bytes }),
  };
}

export function npmWarnings(variables: HubStateOptions["variables"]): string[] {
  const value = variables[NPM_VARIABLE] ?? "";
  return ["", "managed", "npx"].includes(value) ? [] : [`${NPM_VARIABLE} is "${value}", and can be "managed" or "npx"`];
}

function openPackages({ paths, variables }: HubStateOptions): Promise<Packages> {
  // Any other value is reported by npmWarnings.
  const mode = variables[NPM_VARIABLE] === "npx" ? "npx" : "managed";
  return Packages.open({ folder: join(paths.data, "packages"), owner: paths.config, mode });
}
