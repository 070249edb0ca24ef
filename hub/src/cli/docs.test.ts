// docs/cli.md lists every command and option, and no others.

import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { ERRORS } from "../errors.ts";
import { createProgram } from "./program.ts";

const text = readFileSync(new URL("../../../docs/cli.md", import.meta.url), "utf8");
const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
const nothing = () => undefined;
const program = createProgram({
  io: { env: {}, platform: "linux", home: "/", ...streams, onSignal: nothing, onFault: nothing, exit: nothing },
  args: [],
  done: nothing,
});

function commandsOf(command: Command, path: readonly string[] = []): { path: string; command: Command }[] {
  return command.commands
    .filter((each) => !each.name().startsWith("__"))
    .flatMap((each) => {
      const own = [...path, each.name()];
      return each.commands.length > 0 ? commandsOf(each, own) : [{ path: own.join(" "), command: each }];
    });
}

const commands = commandsOf(program);

describe("docs/cli.md", () => {
  it.each(commands.map(({ path }) => path))("has plugboard %s", (path) => {
    expect(text).toMatch(new RegExp(`\`(?:plugboard )?${path}\\b`));
  });

  it("has every option", () => {
    const options = [program, ...commands.map(({ command }) => command)].flatMap((command) =>
      command.options.map(({ long }) => long ?? ""),
    );
    const missing = [...new Set(options)].filter((option) => option !== "--version" && !text.includes(option));
    expect(missing).toEqual([]);
  });

  it("has no unknown command", () => {
    const known = new Set([...program.commands.flatMap((each) => [each.name(), ...each.aliases()]), "help", "COMMAND"]);
    const named = [...text.matchAll(/plugboard (?!--|\n)([\w-]+)/g)].map((match) => match[1] ?? "");
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  it("has the exit codes of the error table", () => {
    const said = new Set(
      /Exit codes: ([^[]*)\./
        .exec(text)?.[1]
        ?.match(/\d+(?= )/g)
        ?.map(Number),
    );
    for (const { exit } of Object.values(ERRORS)) expect(said).toContain(exit);
  });
});
