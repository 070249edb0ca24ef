// `plugboard chat …`: the chat server's own command line, with its own options and help. Loaded when it is asked for.

import type { Register } from "./program.ts";

export const chatCommand: Register = (program, { io, args, done }) => {
  program
    .command("chat")
    .description("chat history and live messages for agents: plugboard chat --help")
    .argument("[words...]", "of the chat server's own command line")
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(async () => {
      const { runCli } = await import("plugboard-chat/cli");
      // As they were written: what looks like an option of ours is one of its own.
      done(await runCli(args.slice(args.indexOf("chat") + 1), io, "plugboard chat"));
    });
};
