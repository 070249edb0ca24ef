// `plugboard test`: tries a server out without saving anything, and leaves nothing running.

import type { TestResult } from "../../api/schemas/server.ts";
import { withAccess, type Access } from "../hub-access/hub-access.ts";
import { fromBody, type ReceivedError } from "../input/error-body.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { printError, type Output } from "../terminal/output.ts";
import type { Register } from "../command.ts";
import { quoted } from "../../lib/quoted.ts";
import { count, printable } from "../terminal/text.ts";
import { seconds } from "../terminal/times.ts";
import { waiting } from "../terminal/spinner.ts";
import { findProgram } from "../../lib/files/find-program.ts";

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

/** Options after the first word belong to the tested command, unless the target is a single word. */
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
  // The error is the result of this command, but users expect it on stderr.
  else printError(fromBody(withHint(outcome, name, line)), io, options);
  return exitCodeOf(outcome);
}

interface Trial {
  readonly name: string;
  readonly result: Promise<TestResult>;
  /** The command line that runs the server without the hub; undefined for a remote server. */
  readonly line?: string;
}

async function start(io: Io, { api }: Access, words: readonly string[]): Promise<Trial> {
  const [first = ""] = words;
  const known = words.length > 1 ? undefined : (await api.servers.list()).find(({ config }) => config.name === first);
  if (known !== undefined) return { name: first, result: api.servers.testSaved(known.config.id) };
  const { fromCommand, isTarget, parseTarget } = await import("../../entry-input/target.ts");
  const cwd = process.cwd();
  const isOne = words.length === 1 && (isTarget(first) || (await findProgram(first, io.env["PATH"])) === undefined);
  const { name, entry } = isOne ? parseTarget(first, { cwd }) : fromCommand(words, cwd);
  const { command, args } = entry;
  const line = [command, ...(Array.isArray(args) ? args : [])].map((word) => quoted(String(word))).join(" ");
  return { name, result: api.servers.test(entry), ...(typeof command === "string" ? { line } : {}) };
}

/** A server that is not saved has no logs, so the hint is to run it by hand. */
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
