// doctor and config validate report problems with the command that fixes each.

import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openHome, openHub, serverFile } from "../support/cli.ts";
import { fixture, plugboard } from "../support/hub.ts";

describe("doctor and validate report problems", () => {
  it("advice is not circular: doctor suggests get, and logs reports that there are no lines", async (context) => {
    const { home: away } = await openHub(context, {
      gone: { url: "http://127.0.0.1:1/mcp" },
      mute: fixture("echo"),
      slow: { ...fixture("hung"), timeouts: { start_ms: 100 } },
    });
    const { stdout } = await plugboard(away, ["doctor"]);
    expect(stdout).toMatch(/^✖ +gone: .*\n {4}fix: plugboard get gone$/m);
    // Advice that is not a command is a note, not a fix.
    expect(stdout).toMatch(/^✖ +slow: Handshake timed out.*\n {4}note: It did not answer within .*start_ms/m);
    expect((await plugboard(away, ["logs", "gone"])).stderr).toMatch(
      /^gone is a remote server and sent no log message.*plugboard get gone\n$/,
    );
    expect((await plugboard(away, ["logs", "mute"])).stderr).toBe("mute has written nothing to stderr\n");
  });

  it("doctor reports missing programs, variables and secrets, and wrong permissions", async (context) => {
    const home = await openHome(
      context,
      {
        missing: { command: "no-such-program-anywhere" },
        variable: { ...fixture("echo"), env: { A: "${NOT_SET_ANYWHERE}" } },
        secret: { ...fixture("echo"), env: { B: { secretRef: "nothing", required: true } } },
        plain: { ...fixture("echo"), env: { API_KEY: "plain-text-key" } },
        off: { command: "/not/needed", enabled: false },
      },
      {},
    );
    await chmod(serverFile(home), 0o644);
    const { code, stdout } = await plugboard(home, ["doctor"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^✖ +no-such-program-anywhere: not found, needed by missing$/m);
    expect(stdout).toMatch(/^✖ +variable: Missing required credentials.*NOT_SET_ANYWHERE/m);
    expect(stdout).toMatch(/^✖ +secret: Missing required credentials.*\n {4}fix: plugboard secret set nothing$/m);
    expect(stdout).toMatch(
      /^! +config: .*contains credentials \(plain\) and can be read by other users\n {4}fix: chmod 600/m,
    );
    expect(stdout).not.toContain("/not/needed");
    expect(stdout).not.toContain("plain-text-key");
    // One more warning if a hub runs at the default port of this machine.
    expect(stdout).toMatch(/^3 problems, [12] warnings?$/m);
    const asJson = await plugboard(home, ["doctor", "--json"]);
    expect(asJson.code).toBe(1);
    expect(JSON.parse(asJson.stdout)).toMatchObject({ ok: false, problems: 3, warnings: 1, checks: expect.any(Array) });
  });

  it("CF-7 validate reports all problems at once and exits 2", async (context) => {
    const home = await openHome(
      context,
      { good: fixture("echo"), one: {}, two: { command: 7 } },
      { g: { servers: "x" } },
    );
    const { code, stdout, stderr } = await plugboard(home, ["config", "validate"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr.match(/^error: /gm)).toHaveLength(3);
    expect(stderr).toContain('error: Server "one": Transport required');
    expect(stderr).toContain('error: Server "two": command must be text');
    const asJson = await plugboard(home, ["config", "validate", "--json"]);
    expect(JSON.parse(asJson.stdout)).toMatchObject({
      valid: false,
      errors: [{ field: "mcpServers.one.transport" }, {}, {}],
    });
  });

  it("validate accepts the path of a file", async (context) => {
    const home = await openHome(context, {});
    const path = join(home.dir, "all.json");
    await writeFile(path, '{ /* ok */ "mcpServers": {"a": {"command": "x"}}, "groups": {"g": {"servers": ["b"]}} }');
    const { code, stdout, stderr } = await plugboard(home, ["config", "validate", path]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Valid: 1 server, 1 group\n" });
    expect(stderr).toContain('names the unknown server "b"');
    expect((await plugboard(home, ["config", "validate", join(home.dir, "none.json")])).code).toBe(2);
  });
});
