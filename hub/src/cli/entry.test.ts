import { describe, expect, it } from "vitest";
import { plainCommand } from "./entry.ts";
import { createProgram } from "./program.ts";

/** How commander parses the same arguments. */
async function parsed(args: readonly string[]): Promise<object> {
  const io = { env: {}, stdout: process.stdout, stderr: process.stderr } as unknown as Parameters<
    typeof createProgram
  >[0]["io"];
  const program = createProgram({ io, args, done: () => undefined });
  let found: object = {};
  for (const command of program.commands) command.action((options: object) => void (found = options));
  await program.parseAsync([...args], { from: "user" });
  return found;
}

describe("a plain `plugboard stdio` or `plugboard up` is parsed as by program.ts", () => {
  it.each([
    [["stdio"]],
    [["stdio", "--group", "work"]],
    [["stdio", "--group=work", "--own"]],
    [["stdio", "--log-level", "info", "--config", "/tmp/x"]],
    [["stdio", "--url", "https://x/mcp", "--header", "A: b", "--header=C: d=e"]],
    [["up"]],
    [["serve", "--json", "-q"]],
    [["run", "--quiet"]],
    [["up", "--no-fast-path"]],
    [["up", "--port", "0", "--host=::1", "--drain", "1s", "--config", "/tmp/x"]],
    [["up", "--port", "1", "--port", "2"]],
  ])("%j", async (args) => {
    // Commander adds undefined members for missing options.
    const { color: _color, input: _input, ...rest } = (await parsed(args)) as { color?: true; input?: true };
    expect(plainCommand(args)?.options).toEqual(rest);
  });

  it.each([
    [["ls"]],
    [["--json", "stdio"]],
    [["stdio", "--help"]],
    [["stdio", "--json"]],
    [["stdio", "--group"]],
    [["stdio", "--group", "--own"]],
    [["stdio", "more"]],
    [["stdio", "--no-such"]],
    [["up", "--help"]],
    [["up", "--no-color"]],
    [["up", "--port"]],
    [["up", "more"]],
    [["help", "up"]],
    [[]],
  ])("%j is left to program.ts", (args) => {
    expect(plainCommand(args)).toBeUndefined();
  });
});
