// The folders of the benchmark, both when it runs from its sources (tests) and from the compiled files.

import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const source = here.endsWith("/dist/bench/") ? join(here, "../..") : here;

export const ROOT = join(source, "../..");

/** All programs of the benchmark are below this folder, which identifies them by their command line. */
const BUILT = join(source, "dist/bench");

/** A compiled program of the benchmark: `upstreams/stdio`. */
export function programOf(name: string): string {
  return join(BUILT, `${name}.js`);
}

/** The common part of the command lines of all upstream servers. */
export const UPSTREAMS = join(BUILT, "upstreams/");

export const HUB = join(ROOT, "hub/bin/plugboard.js");
/** The compiled modules of the hub. */
export const HUB_MODULES = join(ROOT, "hub/dist");
/** Kept between runs; not part of the sources. */
export const PEERS = join(ROOT, "node_modules/.cache/bench-peers");
