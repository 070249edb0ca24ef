// `plugboard test`: tries a server out without saving anything, and leaves nothing running.

import type { TestResult } from "../api/schemas/server.ts";
import { withAccess, type Access } from "./access.ts";
import { fromBody } from "./error-body.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { printError, type Output } from "./output.ts";
import type { Register } from "./program.ts";
import { fromCommand, parseTarget } from "./target.ts";
import { count, printable } from "./text.ts";
import { seconds } from "./times.ts";
import { waiting } from "./waiting.ts";

export const testCommand: Register = (program, { io, done }) => {
  program
    .command("test")
    .description("start a server, list what it offers, stop it again")
    .argument("<target...>", "a configured server, uvx:package, docker:image, a URL, or a command with its arguments")
    .passThroughOptions()
    .action(async (given: string[], options: GlobalOptions) => {
      const { words, json } = withoutJson(given);
      const all = json ? { ...options, json } : options;
      done(await withAccess(io, all, (access) => test(io, access, { words, options: all })));
    });
};

/** Options of a command that is tried out are its own; what stands behind a single word cannot be one of those. */
function withoutJson(given: readonly string[]): { words: readonly string[]; json: boolean } {
  const json = given.length === 2 && given[1] === "--json";
  return { words: json ? given.slice(0, 1) : given, json };
}

async function test(
  io: Io,
  access: Access,
  { words, options }: { words: readonly string[]; options: GlobalOptions },
): Promise<number> {
  const { out } = access;
  const { name, result } = await start(access, words);
  const outcome = await waiting(io, out, `testing ${name}`, result);
  if (out.json) out.data(outcome);
  else if (outcome.success) print(out, name, outcome);
  // It is the result here, but people look for it where errors stand.
  else printError(fromBody({ ...outcome.error, message: `${name}: ${outcome.message}` }), io, options);
  return exitCodeOf(outcome);
}

async function start(
  { api }: Access,
  words: readonly string[],
): Promise<{ name: string; result: Promise<TestResult> }> {
  const [first = ""] = words;
  const known = words.length > 1 ? undefined : (await api.listServers()).find(({ config }) => config.name === first);
  if (known !== undefined) return { name: first, result: api.testSavedServer(known.config.id) };
  const cwd = process.cwd();
  const prefixed = words.length === 1 && /^(?:https?|wss?|uvx|pypi|npm|npx|docker):/.test(first);
  const { name, entry } = prefixed || first.startsWith("{") ? parseTarget(first, { cwd }) : fromCommand(words, cwd);
  return { name, result: api.testServer(entry) };
}

function exitCodeOf({ error }: TestResult): number {
  if (error === undefined) return 0;
  return fromBody(error).meaning.exit;
}

function print(out: Output, name: string, { tools, resources, latency_ms }: TestResult): void {
  out.print(
    `✔ ${name}: ${count(tools.length, "tool")}, ${count(resources.length, "resource")} in ${seconds(latency_ms)}`,
  );
  for (const tool of tools) out.print(`  ${printable(tool.name)}`);
}
