// Where the benchmark's files are, whether it runs from its sources (tests) or from what the compiler made of them.

import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const source = here.endsWith("/dist/bench/") ? join(here, "../..") : here;

export const ROOT = join(source, "../..");

/** Every program that the benchmark starts stands below it, and is known by that in its command line. */
const BUILT = join(source, "dist/bench");

/** A program of the benchmark as built: `upstreams/stdio`. */
export function programOf(name: string): string {
  return join(BUILT, `${name}.js`);
}

/** What the command lines of all upstream servers have in common. */
export const UPSTREAMS = join(BUILT, "upstreams/");

export const HUB = join(ROOT, "hub/bin/plugboard.js");
/** Modules of the hub as built. */
export const HUB_MODULES = join(ROOT, "hub/dist");
/** Outlives runs, and is nobody's source. */
export const PEERS = join(ROOT, "node_modules/.cache/bench-peers");
