// Secrets do not appear in the output of any command, on the terminal, or in files other than the config.

import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { closeHub, json, openHome } from "../support/cli.ts";
import { filesWith } from "../support/files.ts";
import { failing, fixture, FIXTURES, makeHome, plugboard, startHub, type Home } from "../support/hub.ts";
import { noTerminal, onTerminal } from "../support/terminal.ts";

describe("SE-1 T12 T15 secrets", () => {
  const MARK = "mark3r0123456789abcdef";
  const servers = {
    env: { ...fixture("echo"), env: { API_KEY: MARK, FROM_HUB: "${HUB_TOKEN}" } },
    args: { command: process.execPath, args: [join(FIXTURES, "echo.mjs"), "", "--api-key", MARK, `--token=${MARK}`] },
    leaks: { ...failing("API_KEY"), env: { API_KEY: MARK } },
    url: {
      url: `http://user:${MARK}@127.0.0.1:1/mcp?api_key=${MARK}`,
      headers: { Authorization: `Bearer ${MARK}`, "X-Api-Key": MARK },
    },
    missing: { ...fixture("echo"), env: { API_KEY: MARK, TOKEN: "${NOT_SET}" } },
    off: { ...failing("API_KEY"), env: { API_KEY: MARK }, enabled: false },
  };
  const COMMANDS = [
    [],
    ["ls"],
    ["status"],
    ["get", "env"],
    ["get", "args"],
    ["get", "leaks"],
    ["get", "url"],
    ["tools"],
    ["test", "env"],
    ["test", "leaks"],
    ["test", "url"],
    ["test", "missing"],
    ["enable", "off"],
    ["start", "leaks"],
    ["restart", "url"],
    ["logs"],
    ["calls"],
    ["stats"],
    ["call", "leaks.echo"],
    ["call", "url.echo"],
    ["call", "env.nothing"],
    ["group", "ls"],
    ["secret", "ls"],
    ["config", "show"],
    ["config", "validate"],
    ["doctor"],
    ["add", "--no-test", "new1", "-e", `API_KEY=${MARK}`, "--", "node"],
    ["add", "new2", "-e", `API_KEY=${MARK}`, "--", process.execPath, join(FIXTURES, "exit-at-start.mjs"), "API_KEY"],
    ["add", `http://u:${MARK}@127.0.0.1:1/?token=${MARK}`, "new3", "-H", `Authorization: Bearer ${MARK}`],
    ["rm", "env"],
  ];
  /** The secret in plain text and in encodings in which it could leak. */
  const forms = [MARK, Buffer.from(MARK).toString("base64").slice(0, -3), Buffer.from(MARK).toString("hex")];
  const env = { HUB_TOKEN: `${MARK}-hub` };

  /** The commands whose output contains the secret. */
  async function leaks(home: Home, variables: Record<string, string>): Promise<string[]> {
    const found: string[] = [];
    for (const words of COMMANDS) {
      const both = [words, ["--json", ...words]].map((all) => plugboard(home, all, { env: variables }));
      const shown = (await Promise.all(both)).map(({ stdout, stderr }) => stdout + stderr).join("");
      if (forms.some((form) => shown.includes(form))) found.push(words.slice(0, 3).join(" "));
    }
    return found;
  }

  it("are absent from the output of every command without a hub", async (context) => {
    const home = await openHome(context, servers);
    expect(await leaks(home, env)).toEqual([]);
  }, 180_000);

  it("are absent from the output of every command with a hub and of the hub itself", async (context) => {
    const home = await makeHome(servers);
    const hub = await startHub({ ...home, env: { ...home.env, ...env } });
    context.onTestFinished(() => closeHub(hub));
    expect(await leaks(home, {})).toEqual([]);
    // A running hub replaces its files while they are read.
    await hub.stop();
    for (const form of forms) expect(hub.stdout() + hub.stderr()).not.toContain(form);
    for (const folder of ["data", "state"]) expect(await filesWith(join(home.dir, folder), MARK)).toEqual([]);
  }, 180_000);

  it.skipIf(noTerminal !== undefined)(
    `are absent from everything on the terminal${noTerminal ?? ""}`,
    async (context) => {
      const home = await openHome(context, servers);
      for (const words of [["ls"], ["get", "url"], ["get", "args"], ["test", "leaks"]]) {
        const { screen } = await onTerminal(home, words, { env, columns: 300 });
        expect(screen).not.toContain(MARK);
        expect(screen).not.toBe("");
      }
    },
  );

  it.skipIf(noTerminal !== undefined)(`are not echoed while they are typed${noTerminal ?? ""}`, async (context) => {
    const home = await openHome(context, { it: { ...fixture("echo"), env: { API_KEY: { secretRef: "service" } } } });
    const { code, screen } = await onTerminal(home, ["secret", "set", "service"], {
      type: { after: /Value of service: $/, keys: `wrong\u0015${MARK}x\u007f\r` },
    });
    expect(code).toBe(0);
    expect(screen).toContain("Stored the secret service; it will use it after a restart");
    expect(screen).not.toContain(MARK);
    expect((await plugboard(home, ["call", "it.env", "name=API_KEY"])).stdout).toBe(`${MARK}\n`);
    const interrupted = await onTerminal(home, ["secret", "set", "other"], {
      type: { after: /: $/, keys: "abc\u0003" },
    });
    expect(interrupted.code).toBe(130);
    expect(await json(home, "secret", "ls")).toMatchObject([{ name: "service" }]);
  });
});

describe("secrets", () => {
  const SECRET = "sk-live-0123456789abcdef";

  it("SE-1 a stored secret reaches its server and is never printed", async (context) => {
    const home = await openHome(context, { it: { ...fixture("echo"), env: { API_KEY: { secretRef: "service" } } } });
    expect(await plugboard(home, ["secret", "set", "service"], { stdin: `${SECRET}\n` })).toMatchObject({ code: 0 });
    const { stdout } = await plugboard(home, ["secret", "ls"]);
    expect(stdout).toBe("NAME     USED BY\nservice  it\n");
    expect(await plugboard(home, ["call", "it.env", "name=API_KEY"])).toMatchObject({ stdout: `${SECRET}\n` });
    expect(await filesWith(home.dir, SECRET)).toEqual([]);
  });
});
