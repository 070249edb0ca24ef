// `plugboard test`: tries a server out without saving anything, and leaves nothing running.

import { normalizeServer } from "../config/normalize.ts";
import type { ServerConfig } from "../config/types.ts";
import { ERRORS } from "../errors.ts";
import type { Hub } from "../hub.ts";
import type { TestResult } from "../servers/supervisor.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { withHub } from "./open-hub.ts";
import { count, printJson, seconds } from "./output.ts";
import type { Register } from "./program.ts";

export const testCommand: Register = (program, io, done) => {
  program
    .command("test")
    .description("start a server, list what it offers, stop it again")
    .argument("<target...>", "a configured server, a URL, or a command with its arguments")
    .passThroughOptions()
    .action(async (words: string[], options: GlobalOptions) => {
      done(await withHub(io, options, (hub) => test(hub, io, words, options.json === true)));
    });
};

async function test(hub: Hub, io: Io, words: readonly string[], json: boolean): Promise<number> {
  const config = toConfig(hub, words);
  const result = await hub.supervisor.test(config);
  if (json) printJson(io, result);
  else print(io, config.name, result);
  return result.error === undefined ? 0 : ERRORS[result.error.kind].exit;
}

function toConfig(hub: Hub, words: readonly string[]): ServerConfig {
  const [first = "", ...args] = words;
  const known = args.length === 0 ? hub.supervisor.servers.find(({ name }) => name === first) : undefined;
  if (known !== undefined) return known.config;
  return normalizeServer("test", /^(?:https?|wss?):\/\//.test(first) ? { url: first } : { command: first, args });
}

function print(io: Io, name: string, { success, message, tools, resources, latency_ms: ms, error }: TestResult): void {
  if (success) {
    io.stdout.write(
      `✔ ${name}: ${count(tools.length, "tool")}, ${count(resources.length, "resource")} in ${seconds(ms)}\n`,
    );
    for (const tool of tools) io.stdout.write(`  ${String(tool["name"])}\n`);
    return;
  }
  io.stderr.write(`error: ${name}: ${message}\n`);
  if (error?.detail !== undefined) io.stderr.write(`  cause: ${error.detail.split("\n").join("\n         ")}\n`);
  if (error?.hint !== undefined) io.stderr.write(`  fix:   ${error.hint}\n`);
}
