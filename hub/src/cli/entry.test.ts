import { describe, expect, it } from "vitest";
import type { Command } from "commander";
import { plainStdio } from "./entry.ts";
import { createProgram } from "./program.ts";

/** What commander makes of the same words. */
async function parsed(args: readonly string[]): Promise<object> {
  const io = { env: {}, stdout: process.stdout, stderr: process.stderr } as unknown as Parameters<
    typeof createProgram
  >[0]["io"];
  const program = createProgram({ io, args, done: () => undefined });
  let found: object = {};
  const stdio = program.commands.find((command: Command) => command.name() === "stdio");
  stdio?.action((options: object) => void (found = options));
  await program.parseAsync([...args], { from: "user" });
  return found;
}

describe("a plain `plugboard stdio` is read as program.ts reads it", () => {
  it.each([
    [["stdio"]],
    [["stdio", "--group", "work"]],
    [["stdio", "--group=work", "--own"]],
    [["stdio", "--log-level", "info", "--config", "/tmp/x"]],
    [["stdio", "--url", "https://x/mcp", "--header", "A: b", "--header=C: d=e"]],
  ])("%j", async (args) => {
    // What is left out here is what commander says of options that were not given.
    const { color: _color, input: _input, ...rest } = (await parsed(args)) as { color?: true; input?: true };
    expect(plainStdio(args)).toEqual(rest);
  });

  it.each([
    [["up"]],
    [["--json", "stdio"]],
    [["stdio", "--help"]],
    [["stdio", "--json"]],
    [["stdio", "--group"]],
    [["stdio", "--group", "--own"]],
    [["stdio", "more"]],
    [["stdio", "--no-such"]],
    [[]],
  ])("%j is left to it", (args) => {
    expect(plainStdio(args)).toBeUndefined();
  });
});
