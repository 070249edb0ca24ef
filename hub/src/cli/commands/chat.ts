// `plugboard chat …`: runs the command line of plugboard-chat, which has its own options and help. Loaded on demand.

import type { Io } from "../io.ts";
import type { Register } from "../command.ts";

export const CHAT = "chat";

/** For help and completion only. `run` bypasses commander for this command, which would consume the chat server's options. */
export const chatCommand: Register = (program) => {
  program
    .command(CHAT)
    .description("chat history and live messages for agents; plugboard chat --help")
    .argument("[words...]", "arguments of the chat command line");
};

export async function chat(io: Io, args: readonly string[]): Promise<number> {
  const { runCli } = await import("plugboard-chat/cli");
  return runCli(args.slice(args.indexOf(CHAT) + 1), io, `plugboard ${CHAT}`);
}
