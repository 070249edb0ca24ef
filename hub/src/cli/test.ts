// `plugboard test`: tries a server out without saving anything, and leaves nothing running.

import type { TestResult } from "../api/schemas/server.ts";
import { withAccess, type Access } from "./access.ts";
import { fromBody, type ReceivedError } from "./error-body.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { printError, type Output } from "./output.ts";
import type { Register } from "./program.ts";
import { quoted } from "./quoted.ts";
import { fromCommand, isTarget, parseTarget } from "./target.ts";
import { count, printable } from "./text.ts";
import { seconds } from "./times.ts";
import { waiting } from "./waiting.ts";
import { findProgram } from "./which.ts";

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
  const { name, result, line } = await start(io, access, words);
  const outcome = await waiting(io, out, `testing ${name}`, result);
  if (out.json) out.data(outcome);
  else if (outcome.success) print(out, name, outcome);
  // It is the result here, but people look for it where errors stand.
  else printError(fromBody(withHint(outcome, name, line)), io, options);
  return exitCodeOf(outcome);
}

interface Trial {
  readonly name: string;
  readonly result: Promise<TestResult>;
  /** What one would type to run it without the hub; undefined where it is no program. */
  readonly line?: string;
}

async function start(io: Io, { api }: Access, words: readonly string[]): Promise<Trial> {
  const [first = ""] = words;
  const known = words.length > 1 ? undefined : (await api.listServers()).find(({ config }) => config.name === first);
  if (known !== undefined) return { name: first, result: api.testSavedServer(known.config.id) };
  const cwd = process.cwd();
  const isOne = words.length === 1 && (isTarget(first) || (await findProgram(first, io.env["PATH"])) === undefined);
  const { name, entry } = isOne ? parseTarget(first, { cwd }) : fromCommand(words, cwd);
  const { command, args } = entry;
  const line = [command, ...(Array.isArray(args) ? args : [])].map((word) => quoted(String(word))).join(" ");
  return { name, result: api.testServer(entry), ...(typeof command === "string" ? { line } : {}) };
}

/** Of a server that is not saved there are no logs: it can be run by hand. */
function withHint({ error, message }: TestResult, name: string, line: string | undefined): ReceivedError {
  const hint = error?.hint ?? (line === undefined ? undefined : `Run it by hand to see more: ${line}`);
  return { ...error, message: `${name}: ${message}`, ...(hint === undefined ? {} : { hint }) };
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
