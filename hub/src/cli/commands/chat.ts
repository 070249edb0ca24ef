// `plugboard chat …`: runs the command line of plugboard-chat, which has its own options and help. Loaded on demand: it is a package
// of its own, which need not be installed.

import { HubError } from "../../errors.ts";
import { errorCode } from "@plugboard/shared/error-code";
import type { Io } from "../io.ts";
import type { Register } from "../command.ts";

export const CHAT = "chat";

/** For help and completion only. `run` bypasses commander for this command, which would consume the chat server's options. */
export const chatCommand: Register = (program) => {
  program
    .command(CHAT)
    .description("give agents access to chats; plugboard chat --help lists its commands")
    .argument("[words...]", "arguments of the chat command line");
};

export async function chat(io: Io, args: readonly string[]): Promise<number> {
  const { runCli } = await import("plugboard-chat/cli").catch((error: unknown) => {
    if (errorCode(error) !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new HubError("PackageNotFound", "plugboard-chat is not installed", {
      hint: "Install it beside plugboard (npm install plugboard-chat), or run it by itself: npx plugboard-chat",
      cause: error,
    });
  });
  return runCli(args.slice(args.indexOf(CHAT) + 1), io, `plugboard ${CHAT}`);
}
