// `plugboard __complete`: what could come next on a command line. Asked by the shell at every tab, so it is quick, says
// nothing but candidates, and never fails.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Command, Option } from "commander";
import { SHELLS } from "./completion.ts";
import type { GlobalOptions, Io } from "./io.ts";
import type { Register } from "./program.ts";
import { placesOf } from "./record.ts";

interface Candidate {
  readonly value: string;
  readonly about?: string;
}

export const completeCommand: Register = (program, { io, done }) => {
  program
    .command("__complete", { hidden: true })
    .argument("[words...]", "the words after `plugboard`, the unfinished one last")
    .option("--next", "none of the words is unfinished: another one begins")
    .action(async (given: string[], options: GlobalOptions & { readonly next?: boolean }) => {
      const words = options.next === true ? [...given, ""] : given;
      const candidates = await complete(program, words, { io, options }).catch(() => []); // a shell has no use for errors
      for (const { value, about } of candidates)
        io.stdout.write(`${value}${about === undefined ? "" : `\t${about}`}\n`);
      done(0);
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
  if (subcommands.length > 0 && operands === 0) return subcommands.filter(begins);
  return (await argumentsOf(command, operands, { io, options })).filter(begins);
}

interface Place {
  readonly command: Command;
  /** How many operands the command has already. */
  readonly operands: number;
  /** An option that waits for its value. */
  readonly pending: Option | undefined;
}

/** Which command the words lead to. */
function walk(program: Command, words: readonly string[]): Place {
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

type Surroundings = { io: Io; options: GlobalOptions };

function valuesOf(option: string, surroundings: Surroundings): Promise<Candidate[]> {
  if (option === "group") return groupNames(surroundings);
  if (option === "from") return clientNames();
  if (option === "server" || option === "servers") return serverNames(surroundings);
  return Promise.resolve([]);
}

async function argumentsOf(command: Command, operands: number, surroundings: Surroundings): Promise<Candidate[]> {
  const parent = command.parent?.name();
  const argument = command.registeredArguments[operands] ?? command.registeredArguments.at(-1);
  if (argument === undefined || (operands >= command.registeredArguments.length && !argument.variadic)) return [];
  const name = argument.name();
  if (name === "shell") return SHELLS.map((value) => ({ value }));
  if (name === "server" || name === "servers" || (name === "target" && command.name() === "test"))
    return serverNames(surroundings);
  if (name === "client" || name === "clients") return clientNames();
  if (name === "tool") return (await serverNames(surroundings)).map(({ value }) => ({ value: `${value}.` }));
  if (name === "name" && parent === "group") return groupNames(surroundings);
  return [];
}

async function clientNames(): Promise<Candidate[]> {
  const { CLIENTS } = await import("../clients/table.ts");
  return CLIENTS.map(({ id, name }) => ({ value: id, about: name }));
}

/** From the files alone: no server and no hub is asked. */
async function serverNames({ io, options }: Surroundings): Promise<Candidate[]> {
  return namesIn(io, options, "mcp_server.json", (json) => json["mcpServers"] ?? json["servers"]);
}

async function groupNames({ io, options }: Surroundings): Promise<Candidate[]> {
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
  const text = await readFile(join(placesOf(io, options).config, file), "utf8").catch(() => "{}");
  const json: unknown = parse(text, [], { allowTrailingComma: true });
  const map = typeof json === "object" && json !== null ? pick({ ...json }) : undefined;
  return Object.keys(typeof map === "object" && map !== null ? map : {})
    .filter((name) => name !== "$schema" && /^[\w-]+$/.test(name))
    .map((value) => ({ value }));
}
