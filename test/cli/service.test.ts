// `plugboard service`: what it writes, and what it asks of systemd and launchd. Programs on PATH stand for theirs and record the calls.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { PassThrough } from "node:stream";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { run } from "../../hub/src/cli/program.ts";
import { Launchd } from "../../hub/src/cli/service/launchd.ts";
import { Systemd } from "../../hub/src/cli/service/systemd.ts";

const exec = promisify(execFile);

let home: string;
let env: Record<string, string>;

beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "plugboard-service-")));
  await mkdir(join(home, "bin"));
  await fake("systemctl", STATEFUL);
  await fake("launchctl", STATEFUL);
  await fake("loginctl", "");
  env = { PATH: [join(home, "bin"), process.env["PATH"]].join(delimiter), PLUGBOARD_HOME: join(home, "100% of $it") };
});
afterEach(() => rm(home, { recursive: true, force: true }));

/** Remembers whether the service is loaded, as the real ones do. */
const STATEFUL = `
case "$*" in
  *enable*--now*|bootstrap*) touch "$0.loaded" ;;
  *disable*|bootout*) rm -f "$0.loaded" ;;
  *is-enabled*|*is-active*|print*) [ -e "$0.loaded" ] || exit 3 ;;
esac`;

async function fake(name: string, script: string): Promise<void> {
  const path = join(home, "bin", name);
  await writeFile(path, `#!/bin/sh\necho "$(basename "$0") $*" >> "${home}/calls"\n${script}\n`);
  await chmod(path, 0o755);
}

const calls = async () => {
  const text = await readFile(join(home, "calls"), "utf8").catch(() => "");
  await rm(join(home, "calls"), { force: true });
  return text.split("\n").filter((line) => line !== "" && !/is-active|is-enabled|print/.test(line));
};

async function service(platform: NodeJS.Platform, ...args: string[]) {
  const texts = { stdout: "", stderr: "" };
  const stream = (name: "stdout" | "stderr") => new PassThrough().on("data", (text) => (texts[name] += String(text)));
  const nothing = () => undefined;
  const io = {
    env,
    platform,
    home,
    stdin: new PassThrough(),
    stdout: stream("stdout"),
    stderr: stream("stderr"),
    onSignal: nothing,
    onFault: nothing,
    exit: nothing,
  };
  const code = await run(["service", ...args], io);
  return { code, ...texts };
}

const UNIT = ".config/systemd/user/plugboard.service";
const PLIST = "Library/LaunchAgents/plugboard.hub.plist";
const AGENT = `gui/${process.getuid?.() ?? 0}`;

describe.each([
  {
    platform: "linux" as const,
    file: UNIT,
    installed: [
      "systemctl --user daemon-reload",
      "systemctl --user enable --now plugboard.service",
      "loginctl enable-linger",
    ],
    removed: ["systemctl --user disable --now plugboard.service", "systemctl --user daemon-reload"],
  },
  {
    platform: "darwin" as const,
    file: PLIST,
    installed: [`launchctl enable ${AGENT}/plugboard.hub`, `launchctl bootstrap ${AGENT} HOME/${PLIST}`],
    removed: [`launchctl bootout ${AGENT}/plugboard.hub`],
  },
])("on $platform", ({ platform, file, installed, removed }) => {
  it("installs, says that it runs, and uninstalls without a trace", async () => {
    expect((await service(platform, "status")).stdout).toContain("Not installed");
    expect(await service(platform, "install")).toMatchObject({ code: 0, stderr: "" });
    expect(await calls()).toEqual(installed.map((line) => line.replace("HOME", home)));
    const { stdout } = await service(platform, "status", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ file: join(home, file), installed: true, enabled: true, active: true });
    expect((await service(platform, "status")).stdout).toContain("running, starts by itself");
    expect((await service(platform, "uninstall")).stdout).toContain("Stopped and removed the service");
    expect(await calls()).toEqual(removed);
    expect(await readdir(join(home, file, ".."))).toEqual([]);
  });

  it("installing twice changes nothing, and uninstalling twice is no error", async () => {
    await service(platform, "install");
    const before = await readFile(join(home, file), "utf8");
    expect((await service(platform, "install")).stdout).toContain("The service is installed, and runs");
    expect(await readFile(join(home, file), "utf8")).toBe(before);
    await service(platform, "uninstall");
    expect(await service(platform, "uninstall")).toMatchObject({ code: 0, stdout: "The service is not installed\n" });
  });

  it("installing again after a change restarts the service with the new file", async () => {
    await service(platform, "install");
    await calls();
    env["PLUGBOARD_HOME"] = join(home, "elsewhere");
    await service(platform, "install");
    expect(await calls()).toEqual([removed[0], ...installed.map((line) => line.replace("HOME", home))]);
    expect(await readFile(join(home, file), "utf8")).toContain(join(home, "elsewhere"));
  });

  it("leaves a file alone that somebody else has written", async () => {
    await mkdir(join(home, file, ".."), { recursive: true });
    await writeFile(join(home, file), "mine");
    for (const command of ["install", "uninstall"]) {
      const { code, stderr } = await service(platform, command);
      expect([code, stderr]).toEqual([7, expect.stringContaining("was not written by plugboard")]);
    }
    expect(await readFile(join(home, file), "utf8")).toBe("mine");
    expect(await calls()).toEqual([]);
  });

  it("leaves nothing behind if the service cannot be started", async () => {
    const name = platform === "linux" ? "systemctl" : "launchctl";
    await fake(name, 'case "$*" in *print*) exit 3 ;; *) echo "no session" >&2; exit 1 ;; esac');
    const { code, stderr } = await service(platform, "install");
    expect([code, stderr]).toEqual([4, expect.stringContaining("no session")]);
    expect(await readdir(join(home, file, ".."))).toEqual([]);
  });
});

it("says how to start the hub at boot if that needs the administrator", async () => {
  await fake("loginctl", "exit 1");
  const { code, stderr } = await service("linux", "install");
  expect([code, stderr]).toEqual([0, expect.stringContaining("sudo loginctl enable-linger")]);
});

it("has no service on Windows, and says what to do", async () => {
  expect(await service("win32", "install")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Task Scheduler"),
  });
});

const PROGRAM = {
  command: ["/opt/node 20/bin/node", "/opt/plug$board/bin/plugboard.js", "up"],
  variables: { PATH: "/usr/bin:/bin", PLUGBOARD_HOME: '/home/ann/100% <&> "mine" \\ $HOME' },
  log: "/home/ann/hub.log",
};

it.skipIf(!isInstalled("systemd-analyze"))("systemd accepts the unit, with all special characters in it", async () => {
  const unit = join(home, "plugboard.service");
  const command = [process.execPath, ...PROGRAM.command.slice(1)];
  await writeFile(unit, new Systemd({ env: {}, platform: "linux", home }).render({ ...PROGRAM, command }));
  const { stdout, stderr } = await exec("systemd-analyze", ["--user", "verify", unit], {
    env: { ...process.env, XDG_RUNTIME_DIR: home, HOME: home },
  });
  expect(`${stdout}${stderr}`.split("\n").filter((line) => line.includes("plugboard.service"))).toEqual([]);
  const text = await readFile(unit, "utf8");
  expect(text).toContain('Environment="PLUGBOARD_HOME=/home/ann/100%% <&> \\"mine\\" \\\\ $HOME"');
  expect(text).toContain('"/opt/plug$$board/bin/plugboard.js" up');
});

it.skipIf(!isInstalled("python3"))("the plist is read back with what was written", async () => {
  const plist = join(home, "plugboard.plist");
  await writeFile(plist, new Launchd({ home, uid: 501 }).render(PROGRAM));
  const script = "import json,plistlib,sys; print(json.dumps(plistlib.load(open(sys.argv[1],'rb'))))";
  const { stdout } = await exec("python3", ["-c", script, plist]);
  expect(JSON.parse(stdout)).toMatchObject({
    Label: "plugboard.hub",
    ProgramArguments: PROGRAM.command,
    EnvironmentVariables: PROGRAM.variables,
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
    StandardErrorPath: PROGRAM.log,
  });
});

function isInstalled(name: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, name)));
}
