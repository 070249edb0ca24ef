// Commands that talk to a hub elsewhere: --url, tokens, and what is refused.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ECHO, openHome, openHub, savedServers } from "../support/cli.ts";
import { tokenOf } from "../support/client.ts";
import { plugboard } from "../support/hub.ts";

describe("a remote hub", () => {
  it("is reached with --url and a token from a file or the environment", async (context) => {
    const hub = await openHub(context, ECHO);
    const { home } = hub;
    const away = await openHome(context);
    const token = await tokenOf(home);
    const file = join(away.dir, "token");
    await writeFile(file, `${token}\n`, { mode: 0o600 });
    expect(
      (await plugboard(away, ["call", "it.add", "a=1", "b=1", "--url", hub.url, "--token-file", file])).stdout,
    ).toBe("2\n");
    const env = { PLUGBOARD_URL: `${hub.url}/`, PLUGBOARD_TOKEN: token };
    expect((await plugboard(away, ["status"], { env })).stdout).toContain(`MCP      ${hub.url}/mcp`);
    const added = await plugboard(away, ["add", "--no-test", "--disabled", "new", "--", "node"], { env });
    expect(added.stdout).toBe(`Added new to ${hub.url}\n`);
    expect(Object.keys(await savedServers(home))).toEqual(["it", "new"]);
    for (const args of [["start"], ["stop"], ["restart"]]) {
      expect(await plugboard(away, args, { env })).toMatchObject({ code: 2, stdout: "" });
    }
    expect((await plugboard(home, ["status"])).code).toBe(0);
  });

  const WRONG: [code: number, env: Record<string, string>, args: string[], stderr: RegExp][] = [
    [3, { PLUGBOARD_URL: "URL" }, [], /^error: A remote hub needs a token\n {2}(?:fix|note): /],
    [
      3,
      { PLUGBOARD_URL: "URL", PLUGBOARD_TOKEN: "pb_wrong" },
      [],
      /^error: The program at \S+ did not prove that it has this token; nothing was sent to it\n {2}cause: The token belongs to another hub/,
    ],
    [2, { PLUGBOARD_TOKEN: "x" }, ["--url", "http://example.com"], /^error: Invalid --url "/],
    [2, { PLUGBOARD_TOKEN: "x" }, ["--url", "nonsense"], /^error: Invalid --url "/],
    [
      4,
      { PLUGBOARD_TOKEN: "x" },
      ["--url", "http://127.0.0.1:1"],
      /^error: No hub answers at http:\/\/127\.0\.0\.1:1\n/,
    ],
    [2, {}, ["--token-file", "x"], /^error: --token-file is for a remote hub\n/],
    [3, { PLUGBOARD_URL: "URL" }, ["--token-file", "/no/such/file"], /^error: No token in/],
  ];

  it("missing and invalid options are reported, and no token is sent to an unsafe address", async (context) => {
    const hub = await openHub(context, ECHO);
    const { home } = hub;
    for (const [code, env, args, stderr] of WRONG) {
      const filled = Object.fromEntries(
        Object.entries(env).map(([name, value]) => [name, value.replace("URL", hub.url)]),
      );
      const finished = await plugboard(home, ["ls", ...args], { env: filled });
      expect(finished.stderr).toMatch(stderr);
      expect(finished).toMatchObject({ code, stdout: "" });
    }
  });
});
