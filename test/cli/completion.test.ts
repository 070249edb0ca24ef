// Shell completion: the words it offers, and the script for each shell.

import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { closeHome, GROUPS, openHome, serverFile, SERVERS } from "../support/cli.ts";
import { BIN, makeHome, plugboard, type Home } from "../support/hub.ts";

describe("completion", () => {
  let home: Home;
  beforeAll(async () => {
    home = await makeHome(SERVERS, GROUPS);
    return () => closeHome(home);
  });

  const complete = async (...words: string[]) =>
    (await plugboard(home, ["__complete", "--", ...words])).stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split("\t")[0]);

  it.concurrent.each([
    [["st"], ["start", "stop", "status", "stdio", "stats"]],
    [
      ["get", ""],
      ["it", "other", "broken", "off"],
    ],
    [
      ["call", "o"],
      ["other.", "off."],
    ],
    [
      ["tools", "--group", ""],
      ["default", "desk"],
    ],
    [
      ["group", ""],
      ["ls", "get", "add", "set", "tool", "rm"],
    ],
    [["group", "rm", "des"], ["desk"]],
    [
      ["completion", ""],
      ["bash", "zsh", "fish", "pwsh"],
    ],
    [["calls", "--fa"], ["--failed"]],
    [["stats", "--si"], ["--since"]],
    [["doctor", "--f"], ["--fix"]],
    [["secret", "ro"], ["rotate-key"]],
    [["no-such-command", "x"], [""]],
  ])("completes %j", async (words, expected) => {
    expect(await complete(...words)).toEqual(expected);
  });

  it("a broken config prints nothing into the shell", async (context) => {
    const broken = await openHome(context);
    await writeFile(serverFile(broken), "{");
    expect(await plugboard(broken, ["__complete", "--", "get", ""])).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  it.each(["bash", "zsh", "fish"])(
    "the script for %s calls the completion and is valid in that shell",
    async (shell) => {
      const { code, stdout } = await plugboard(home, ["completion", shell]);
      expect(code).toBe(0);
      expect(stdout).toContain("plugboard __complete --");
      const script = join(home.dir, `plugboard.${shell}`);
      await writeFile(script, stdout);
      const checked = spawnSync(shell, ["-n", script]);
      if (checked.error === undefined) expect(String(checked.stderr)).toBe("");
    },
  );

  it("the script for pwsh calls the completion (without a run in PowerShell)", async () => {
    const { code, stdout } = await plugboard(home, ["completion", "pwsh"]);
    expect(code).toBe(0);
    expect(stdout).toContain("@('__complete') + $next + @('--') + $words");
    expect(stdout).toMatch(/^ {2}Register-ArgumentCompleter -Native -CommandName plugboard, .*\$completer$/m);
    expect(stdout).toContain("$_ -split '\\t', 2");
    // Brackets and quotes are balanced.
    const bare = stdout.replaceAll(/#.*$/gm, "").replaceAll(/'[^'\n]*'|"[^"\n]*"/g, "");
    expect(bare).not.toMatch(/['"`]/);
    let open = "";
    for (const bracket of bare.match(/[(){}[\]]/g) ?? []) open = `${open}${bracket}`.replace(/(?:\(\)|\{\}|\[\])$/, "");
    expect(open).toBe("");
  });

  it("--next stands for an empty word, which PowerShell drops", async () => {
    for (const words of [["get"], ["tools", "--group"], []]) {
      const { stdout } = await plugboard(home, ["__complete", "--next", "--", ...words]);
      expect(stdout).toBe((await plugboard(home, ["__complete", "--", ...words, ""])).stdout);
      expect(stdout).not.toBe("");
    }
  });

  it("an unsupported shell exits 2", async () => {
    expect(await plugboard(home, ["completion", "cmd"])).toMatchObject({ code: 2, stdout: "" });
  });

  it.skipIf(spawnSync("bash", ["--version"]).status !== 0)("bash completes with the script", async () => {
    const { stdout: script } = await plugboard(home, ["completion", "bash"]);
    const ask = `plugboard() { '${process.execPath}' '${BIN}' "$@"; }\n${script}\nCOMP_WORDS=(plugboard get o); COMP_CWORD=2; _plugboard; echo "\${COMPREPLY[@]}"`;
    const { stdout } = spawnSync("bash", ["-c", ask], { env: home.env, encoding: "utf8" });
    expect(stdout).toBe("other off\n");
  });
});
