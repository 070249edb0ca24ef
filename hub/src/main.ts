// The entry point of the bin: reads the environment once, runs the command, and exits with its code.

import { mkdirSync } from "node:fs";
import nodeModule from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { run } from "./cli/entry.ts";
import { closeInherited } from "./cli/inherited.ts";
import { hubPaths } from "./config/files/paths.ts";

const platformContext = { env: process.env, platform: process.platform, home: homedir() };
closeInherited();
enableCompileCache();

const outputs = [process.stdout, process.stderr];
// The reader may close the pipe early (`| head`): EPIPE must not end the process with an error.
for (const output of outputs) output.on("error", () => {});
const exitCode = await run(process.argv.slice(2), {
  ...platformContext,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  onSignal: (listener) => {
    process.on("SIGINT", listener);
    process.on("SIGTERM", listener);
  },
  onFault: (listener) => void process.on("uncaughtException", listener),
  exit: (code) => process.exit(code),
  // The parent may have exited; the callback swallows the error.
  tellParent: process.send === undefined ? undefined : (message) => void process.send?.(message, () => {}),
});
// Output that is still buffered for a full pipe would be lost at exit.
await Promise.all(outputs.map((output) => new Promise((resolve) => output.write("", resolve))));
// Left-over handles (an open stdin, a keep-alive socket) must not keep a finished command alive.
process.exit(exitCode);

/**
 * Enables the compile cache of Node 22.8 and newer, in a private folder: Node's default is in the shared temporary folder,
 * where other users could plant code. Without a writable folder there is no cache.
 */
function enableCompileCache(): void {
  if (!("enableCompileCache" in nodeModule) || typeof nodeModule.enableCompileCache !== "function") return;
  const folder = join(hubPaths(platformContext).cache, "compiled");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch {
    return;
  }
  nodeModule.enableCompileCache(folder);
}
