// The entry of the bin: runs the command and sets the exit code.

import { runCli } from "./cli/cli.ts";

const outputs = [process.stdout, process.stderr];
// The reader of the pipe may have exited (`| head`): ignore EPIPE.
for (const output of outputs) output.on("error", () => {});
const exitCode = await runCli(process.argv.slice(2));
// Wait until the pipes are flushed: the rest would be lost at exit.
await Promise.all(outputs.map((output) => new Promise((resolve) => output.write("", resolve))));
// Open handles (stdin, a keep-alive socket) must not keep a finished command alive.
process.exit(exitCode);
