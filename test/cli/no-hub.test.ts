// Commands without a running hub: those that need one exit 4 and name the fix, the others work.

import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { closeHome, GROUPS, json, SERVERS } from "../support/cli.ts";
import { makeHome, plugboard, type Home } from "../support/hub.ts";

describe("without a hub", () => {
  let home: Home;
  beforeAll(async () => {
    home = await makeHome(SERVERS, GROUPS);
    return () => closeHome(home);
  });

  it.concurrent.each([
    [["status"]],
    [["status", "--check"]],
    [["logs"]],
    [["logs", "it", "-f"]],
    [["calls"]],
    [["stats"]],
    [["start", "it"]],
    [["stop", "it"]],
    [["restart", "it"]],
    [["open"]],
  ])("%j exits 4 and explains how to start a hub", async (args) => {
    const { code, stdout, stderr } = await plugboard(home, args);
    expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    expect(stderr).toBe(
      `error: No hub is running\n  cause: The config folder is ${join(home.dir, "config")}\n  fix:   plugboard start\n`,
    );
    const asJson = await plugboard(home, [...args, "--json"]);
    expect(JSON.parse(asJson.stderr)).toMatchObject({
      code: "NETWORK_ERROR",
      kind: "ConnectionFailed",
      hint: "plugboard start",
    });
  });

  it("plugboard without arguments prints six lines with the first two commands", async () => {
    const { code, stdout, stderr } = await plugboard(home, []);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.trimEnd().split("\n")).toHaveLength(6);
    expect(stdout).toMatch(/^ {2}plugboard add /m);
    expect(stdout).toMatch(/^ {2}plugboard start /m);
    expect(await json(home)).toEqual({ running: false });
  });

  it.concurrent.each([
    [["get", "it"], /^it {2}stopped {2}no hub is running\n {2}about +Echoes its arguments\n/],
    [["tools", "it"], /^echo\(text\S* string\) +≈\d+ +The tool echo$/m],
    [["read", "test://items/7"], /7/],
    [["prompt", "it.greet", "who=Bo"], /^user:\nGreet Bo\n$/],
    [["group", "ls"], /^desk +- +- +it +\/groups\/desk\/mcp +For the desk$/m],
    [["group", "get", "desk"], /^desk\n {2}about +For the desk\n/],
    [["secret", "ls"], /^$/],
    [["config", "path"], /config\n$/],
    [["config", "show"], /"mcpServers"/],
    [["config", "validate"], /^Valid: 4 servers, 1 group\n$/],
    [["version"], /^plugboard 0\.1\.0, Node 2/],
    [["doctor"], /^✔ +Node: /],
  ])("%j works without a hub", async (args, stdout) => {
    const finished = await plugboard(home, args);
    expect(finished.stdout).toMatch(stdout);
    expect(finished.code).toBe(0);
    expect(finished.stderr).toMatch(/^(?:No hub is running: plugboard start\n|No secrets\. .*\n)?$/);
    const asJson = await plugboard(home, [...args, "--json"]);
    expect(asJson.code).toBe(0);
    if (args[1] !== "path" || asJson.stdout.startsWith("{")) JSON.parse(asJson.stdout);
  });
});
