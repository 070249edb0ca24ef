// What every managed server shares.

import type { LookupFunction } from "node:net";
import type { SecretStore } from "../secrets/store.ts";
import type { EraMemory } from "./era-memory.ts";
import type { Guard } from "./guard.ts";
import type { Launches } from "./launches.ts";
import type { ListingMemory } from "./listing-memory.ts";
import type { Packages } from "./npm/packages.ts";
import type { Places } from "./places.ts";
import type { Redactor } from "./redaction.ts";

export interface ServerWorld {
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** What relative paths of the config start from. Without it they start where the program runs. */
  readonly configFolder?: string;
  readonly secrets: SecretStore;
  readonly guard: Guard;
  readonly eras: EraMemory;
  readonly instance: string;
  /** Without it every server starts at once. */
  readonly launches?: Launches;
  /** Without it a server that is started on demand is started once at the hub's start. */
  readonly listings?: ListingMemory;
  /** Without it npm packages are left to npx. */
  readonly packages?: Packages;
  readonly redactor: Redactor;
  /** For the instances of all servers whose callers do not share one. Without it each server has its own bound only. */
  readonly places?: Places;
  /** Who knows where remote servers are. */
  readonly lookup?: LookupFunction;
}
