// Config files that are missing, empty or invalid: what every command makes of them.

import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { ECHO, openHome, serverFile } from "../support/cli.ts";
import { plugboard } from "../support/hub.ts";

describe("invalid config files", () => {
  const WRONG: [what: string, text: string, says: RegExp][] = [
    [
      "truncated",
      '{"mcpServers": {"it": {"command": "no',
      /mcp_server\.json is not valid JSON: .* at line 1, column \d+/,
    ],
    ["a list", "[]", /mcp_server\.json/],
    ["a number", "42", /mcp_server\.json/],
    ["servers that are a list", '{"mcpServers": []}', /mcpServers/],
    ["huge", `{"mcpServers": {}, "x": "${"x".repeat(5 << 20)}"}`, /larger than 4 MiB/],
    ["nested without end", `{"mcpServers": ${"[".repeat(10_000)}`, /nested deeper/],
    ["no text", "\u0000\u0001\u0002", /mcp_server\.json/],
  ];

  it.each(WRONG)("CF-7 CF-8 %s: a clear error, and the file is unchanged", async (_, text, says) => {
    const home = await openHome({ onTestFinished });
    const path = serverFile(home);
    await writeFile(path, text);
    const commands = [["ls"], ["up", "--port", "0"], ["stdio"]];
    for (const { code, stdout, stderr } of await Promise.all(commands.map((args) => plugboard(home, args)))) {
      expect(stderr).toMatch(/^error: /);
      expect(stderr).toMatch(says);
      expect(stderr).not.toMatch(/^ {4}at |node:internal/m);
      expect({ code: code === 7 ? 2 : code, stdout }).toEqual({ code: 2, stdout: "" });
    }
    expect(await readFile(path, "utf8")).toBe(text);
    expect(await readdir(join(home.dir, "config"))).toEqual(["mcp_server.json"]);
  });

  it.each(["", "  \n", "// nothing yet\n"])("CF-3 a file that contains %j is an empty config", async (text) => {
    const home = await openHome({ onTestFinished });
    await writeFile(serverFile(home), text);
    expect(await plugboard(home, ["ls"])).toMatchObject({ code: 0, stdout: expect.stringContaining("No servers") });
  });

  it("CF-3 a missing file selects the demo config, which works", async () => {
    const home = await openHome({ onTestFinished });
    const { code, stdout } = await plugboard(home, ["tools"]);
    expect(code).toBe(0);
    expect(stdout).toContain("config_example");
    expect(await readdir(join(home.dir, "config"))).toEqual([]);
  });

  it("GR-2 a group with an unknown server causes a warning, and the rest works", async () => {
    const home = await openHome({ onTestFinished }, ECHO, { work: { servers: ["it", "ghost"] } });
    const { code, stdout } = await plugboard(home, ["tools", "--group", "work"]);
    expect(code).toBe(0);
    expect(stdout).toContain("echo");
  });

  it("GR-1 an invalid group is reported and stops nothing", async () => {
    const home = await openHome({ onTestFinished }, ECHO, { work: { servers: "it" } });
    const { code, stdout } = await plugboard(home, ["group", "ls"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/work .*servers must be a list/);
  });
});
