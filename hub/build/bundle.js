// Makes what users run: `npm run bundle`, and before any test, so that tests run it too, as the sources are now.

import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { programs } from "./programs.js";

export default async function bundle() {
  for (const program of programs) await build(program);
}

if (argv[1] === fileURLToPath(import.meta.url)) await bundle();
