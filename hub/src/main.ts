// The bin's entry: reads the surroundings once, hands them to the command, and turns its end into an exit code.

import { homedir } from "node:os";
import { run } from "./cli/entry.ts";

const outputs = [process.stdout, process.stderr];
// Whoever read this has gone (`| head`): what is left to say goes nowhere, and nobody should fall over it.
for (const output of outputs) output.on("error", () => {});
const exitCode = await run(process.argv.slice(2), {
  env: process.env,
  platform: process.platform,
  home: homedir(),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  onSignal: (listener) => {
    process.on("SIGINT", listener);
    process.on("SIGTERM", listener);
  },
  exit: (code) => process.exit(code),
  // Whoever started this may have gone.
  tellParent: process.send === undefined ? undefined : (message) => void process.send?.(message, () => {}),
});
// A pipe takes only so much at once: what it has not taken yet would be lost with the process.
await Promise.all(outputs.map((output) => new Promise((resolve) => output.write("", resolve))));
// Left-over handles (an open stdin, a keep-alive socket) must not keep a finished command alive.
process.exit(exitCode);
