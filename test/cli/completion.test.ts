// Shell completion: the words it offers, and the script for each shell.

import { execFile, spawnSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
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

  it.for(["bash", "zsh", "fish"] as const)(
    "%s offers commands, servers, groups and options at Tab",
    async (shell, { skip }) => {
      if (spawnSync(shell, ["--version"]).error !== undefined)
        return skip(`to have it: apt-get install -y --no-install-recommends ${shell}`);
      const offered = (line: string) => pressTab(home, shell, line);
      expect(await offered("plugboard st")).toEqual(["start", "stats", "status", "stdio", "stop"]);
      expect(await offered("plugboard get o")).toEqual(["off", "other"]);
      expect(await offered("plugboard group rm des")).toEqual(["desk"]);
      expect(await offered("plugboard doctor --f")).toEqual(["--fix"]);
    },
  );
});

/** What the shell offers at Tab after the line. */
async function pressTab(home: Home, shell: keyof typeof TAB, line: string): Promise<string[]> {
  const folder = join(home.dir, "shell");
  await mkdir(join(folder, "bin"), { recursive: true });
  const program = join(folder, "bin/plugboard");
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`, { mode: 0o755 });
  const { stdout: script } = await plugboard(home, ["completion", shell]);
  await writeFile(join(folder, "_plugboard"), script);
  await writeFile(join(folder, "tab"), TAB[shell]);
  const PATH = [join(folder, "bin"), process.env["PATH"]].join(delimiter);
  const env = { ...home.env, PATH, HOME: folder, TERM: "dumb", FOLDER: folder, LINE: line };
  const { stdout } = await promisify(execFile)(shell, [join(folder, "tab")], { env, timeout: 60_000 });
  const words = stdout.split("\n").map((each) => each.split("\t")[0] ?? "");
  return words.filter((word) => word !== "").toSorted();
}

/** A script of each shell that loads the completion, and prints what Tab offers after $LINE. */
const TAB = {
  bash: `
source "$FOLDER/_plugboard"
read -ra COMP_WORDS <<< "$LINE"; COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
"$(complete -p plugboard | sed 's/.*-F \\([^ ]*\\) .*/\\1/')"
printf '%s\\n' "\${COMPREPLY[@]}"
`,
  fish: `
source "$FOLDER/_plugboard"
complete -C "$LINE"
`,
  // Completion needs a terminal: zpty is one. compadd is what every completion ends with.
  zsh: `
zmodload zsh/zpty
print -r -- '
PROMPT= ; fpath=($FOLDER $fpath); autoload -Uz compinit; compinit -u -d $FOLDER/dump
compadd() {
  local -a hits; local opts="\${(j: :)@[1,(i)--]}"
  if [[ " $opts" = *" -"[OAD]* ]]; then builtin compadd "$@"; return; fi
  builtin compadd -A hits "$@"; print -rl -- $hits >> $FOLDER/hits; builtin compadd "$@"
}
finished() { touch $FOLDER/finished }
comppostfuncs=(finished); bindkey "^I" complete-word; touch $FOLDER/ready' > $FOLDER/setup
rm -f $FOLDER/{hits,ready,finished}; touch $FOLDER/hits
zpty shell zsh -f -i
zpty -w shell "source $FOLDER/setup"
until [[ -e $FOLDER/ready ]]; do zpty -rt shell output; sleep 0.05; done
zpty -w -n shell "$LINE"$'\\t'
until [[ -e $FOLDER/finished ]]; do zpty -rt shell output; sleep 0.05; done
zpty -d shell
cat $FOLDER/hits
`,
} as const;
