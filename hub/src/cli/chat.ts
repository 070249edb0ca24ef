// `plugboard chat …`: the chat server's own command line, with its own options and help. Loaded when it is asked for.

import type { Io } from "./io.ts";
import type { Register } from "./program.ts";

export const CHAT = "chat";

/** For the help and the shell: the words behind it never come to commander, which would take options of ours out of them. */
export const chatCommand: Register = (program) => {
  program
    .command(CHAT)
    .description("chat history and live messages for agents; plugboard chat --help")
    .argument("[words...]", "of the chat server's own command line");
};

export async function chat(io: Io, args: readonly string[]): Promise<number> {
  const { runCli } = await import("plugboard-chat/cli");
  return runCli(args.slice(args.indexOf(CHAT) + 1), io, `plugboard ${CHAT}`);
}
