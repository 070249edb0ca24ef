// Before either package is packed: compiles, bundles, and writes its types.

import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
execFileSync(execPath, [tsc, "-b", "hub"], { cwd: ROOT, stdio: "inherit" });
// They read what tsc has written.
const [{ default: bundle }, { bundleTypes }] = await Promise.all([import("./bundle.js"), import("./types.js")]);
await bundle();
await bundleTypes();
