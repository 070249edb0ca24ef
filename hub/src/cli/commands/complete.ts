// `plugboard __complete`: completion candidates for a command line. The shell runs it at every tab, so it is fast, prints
// nothing but candidates, and never fails.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Command, Option } from "commander";
import { SHELLS } from "./completion.ts";
import type { GlobalOptions, Io } from "../io.ts";
import type { Register } from "../command.ts";
import { hubFoldersOf } from "../hub-access/run-file.ts";

interface Candidate {
  readonly value: string;
  readonly about?: string;
}

export const completeCommand: Register = (program, { io }) => {
  program
    .command("__complete", { hidden: true })
    .argument("[words...]", "the words after `plugboard`, the unfinished one last")
    .option("--next", "complete a new word after the given ones")
    .action(async (given: string[], options: GlobalOptions & { readonly next?: boolean }) => {
      const words = options.next === true ? [...given, ""] : given;
      const candidates = await complete(program, words, { io, options }).catch(() => []); // a shell cannot show errors here
      for (const { value, about } of candidates)
        io.stdout.write(`${value}${about === undefined ? "" : `\t${about}`}\n`);
    });
};

export async function complete(
  program: Command,
  words: readonly string[],
  { io, options }: { io: Io; options: GlobalOptions },
): Promise<Candidate[]> {
  const current = words.at(-1) ?? "";
  const { command, operands, pending } = walk(program, words.slice(0, -1));
  const begins = ({ value }: Candidate) => value.startsWith(current);
  if (pending !== undefined) return (await valuesOf(pending.attributeName(), { io, options })).filter(begins);
  if (current.startsWith("-")) {
    return command.options
      .filter((option) => !option.hidden || command.parent !== null)
      .map((option) => ({ value: option.long ?? option.short ?? "", about: option.description }))
      .filter(begins);
  }
  const subcommands = command.commands
    .filter((candidate) => candidate.name() !== "__complete")
    .map((candidate) => ({ value: candidate.name(), about: candidate.description() }));
  const values = await argumentsOf(command, operands, { io, options });
  // A command such as `auth` has both.
  return (operands === 0 ? [...subcommands, ...values] : values).filter(begins);
}

interface Position {
  readonly command: Command;
  /** Number of operands already given. */
  readonly operands: number;
  /** An option that still needs its value. */
  readonly pending: Option | undefined;
}

/** Finds the command that the words name. */
function walk(program: Command, words: readonly string[]): Position {
  let command = program;
  let operands = 0;
  let pending: Option | undefined;
  for (const word of words) {
    if (pending !== undefined) {
      pending = undefined;
      continue;
    }
    if (word.startsWith("-")) {
      const option = command.options.find(({ short, long }) => word === short || word === long);
      if (option?.required === true) pending = option;
      continue;
    }
    const next = command.commands.find((candidate) => candidate.name() === word || candidate.aliases().includes(word));
    if (next !== undefined && operands === 0) command = next;
    else operands++;
  }
  return { command, operands, pending };
}

type CompletionContext = { io: Io; options: GlobalOptions };

function valuesOf(option: string, context: CompletionContext): Promise<Candidate[]> {
  if (option === "group") return groupNames(context);
  if (option === "from") return clientNames("IMPORTABLE");
  if (option === "server" || option === "servers") return serverNames(context);
  return Promise.resolve([]);
}

async function argumentsOf(command: Command, operands: number, context: CompletionContext): Promise<Candidate[]> {
  const parent = command.parent?.name();
  const argument = command.registeredArguments[operands] ?? command.registeredArguments.at(-1);
  if (argument === undefined || (operands >= command.registeredArguments.length && !argument.variadic)) return [];
  const name = argument.name();
  if (name === "shell") return SHELLS.map((value) => ({ value }));
  if (name === "server" || name === "servers" || (name === "target" && command.name() === "test"))
    return serverNames(context);
  if (name === "client" || name === "clients") return clientNames("CLIENTS");
  if (name === "tool") return (await serverNames(context)).map(({ value }) => ({ value: `${value}.` }));
  if (name === "name" && parent === "group") return groupNames(context);
  return [];
}

async function clientNames(list: "CLIENTS" | "IMPORTABLE"): Promise<Candidate[]> {
  const { [list]: clients } = await import("../../client-configs/client-table.ts");
  return clients.map(({ id, name }) => ({ value: id, about: name }));
}

/** Read from the config file, without a hub. */
async function serverNames({ io, options }: CompletionContext): Promise<Candidate[]> {
  return namesIn(io, options, "mcp_server.json", (json) => json["mcpServers"] ?? json["servers"]);
}

async function groupNames({ io, options }: CompletionContext): Promise<Candidate[]> {
  const names = await namesIn(io, options, "group.json", (json) => json["groups"] ?? json);
  return names.some(({ value }) => value === "default") ? names : [{ value: "default" }, ...names];
}

async function namesIn(
  io: Io,
  options: GlobalOptions,
  file: string,
  pick: (json: Record<string, unknown>) => unknown,
): Promise<Candidate[]> {
  const { parse } = await import("jsonc-parser");
  const text = await readFile(join(hubFoldersOf(io, options).config, file), "utf8").catch(() => "{}");
  const json: unknown = parse(text, [], { allowTrailingComma: true });
  const map = typeof json === "object" && json !== null ? pick({ ...json }) : undefined;
  return Object.keys(typeof map === "object" && map !== null ? map : {})
    .filter((name) => name !== "$schema" && /^[\w-]+$/.test(name))
    .map((value) => ({ value }));
}
