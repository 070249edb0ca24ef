// The bin's entry: runs the command and turns its end into an exit code.

import { runCli } from "./cli/cli.ts";

const outputs = [process.stdout, process.stderr];
// Whoever read this has gone (`| head`): what is left to say goes nowhere, and nobody should fall over it.
for (const output of outputs) output.on("error", () => {});
const exitCode = await runCli(process.argv.slice(2));
// A pipe takes only so much at once: what it has not taken yet would be lost with the process.
await Promise.all(outputs.map((output) => new Promise((resolve) => output.write("", resolve))));
// Left-over handles (an open stdin, a keep-alive socket) must not keep a finished command alive.
process.exit(exitCode);
