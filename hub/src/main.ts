// The bin's entry: reads the surroundings once, hands them to the command, and turns its end into an exit code.

import { mkdirSync } from "node:fs";
import nodeModule from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { run } from "./cli/entry.ts";
import { closeInherited } from "./cli/inherited.ts";
import { hubPaths } from "./config/paths.ts";

const surroundings = { env: process.env, platform: process.platform, home: homedir() };
closeInherited();
keepCompiled();

const outputs = [process.stdout, process.stderr];
// Whoever read this has gone (`| head`): what is left to say goes nowhere, and nobody should fall over it.
for (const output of outputs) output.on("error", () => {});
const exitCode = await run(process.argv.slice(2), {
  ...surroundings,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  onSignal: (listener) => {
    process.on("SIGINT", listener);
    process.on("SIGTERM", listener);
  },
  onFault: (listener) => void process.on("uncaughtException", listener),
  exit: (code) => process.exit(code),
  // Whoever started this may have gone.
  tellParent: process.send === undefined ? undefined : (message) => void process.send?.(message, () => {}),
});
// A pipe takes only so much at once: what it has not taken yet would be lost with the process.
await Promise.all(outputs.map((output) => new Promise((resolve) => output.write("", resolve))));
// Left-over handles (an open stdin, a keep-alive socket) must not keep a finished command alive.
process.exit(exitCode);

/**
 * From Node 22.8 on what was compiled once need not be again. In a folder of our own: the one that Node would take is
 * everybody's, and whoever can write there decides what we run. Where that cannot be, it goes without.
 */
function keepCompiled(): void {
  if (!("enableCompileCache" in nodeModule) || typeof nodeModule.enableCompileCache !== "function") return;
  const folder = join(hubPaths(surroundings).cache, "compiled");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch {
    return;
  }
  nodeModule.enableCompileCache(folder);
}
