// What the hub does differently on Windows, as far as it can be tested elsewhere: the platform is given, and a program on PATH stands
// for taskkill. docs and README say that it was never run there.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { childEnvironment, isBasic } from "./environment.ts";
import { signalGroup } from "./process-group.ts";
import { watchdogCommand } from "./watchdog.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "plugboard-windows-"));
  await writeFile(join(folder, "taskkill"), `#!/bin/sh\necho "$*" >> '${folder}/calls'\nkill -9 "$2"\n`);
  await chmod(join(folder, "taskkill"), 0o755);
  vi.stubEnv("PATH", [folder, process.env["PATH"]].join(delimiter));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

const sleeper = () => spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
const calls = () => readFile(join(folder, "calls"), "utf8");

it.each(["SIGTERM", "SIGKILL"] as const)(
  "LC-4 on Windows, %s ends the tree of the process with taskkill",
  async (signal) => {
    const child = sleeper();
    const exited = once(child, "exit");
    expect(signalGroup(child.pid ?? 0, 0, "win32")).toBe(true);
    expect(signalGroup(child.pid ?? 0, signal, "win32")).toBe(true);
    await exited;
    expect(await calls()).toBe(`/pid ${child.pid} /T /F\n`);
    expect(signalGroup(child.pid ?? 0, signal, "win32")).toBe(false);
  },
);

it("LC-5 on Windows, the watchdog ends what is registered when the hub is gone", async () => {
  const { command, args } = watchdogCommand("tag", "win32");
  const children = [sleeper(), sleeper(), sleeper()];
  const [first, second, third] = children;
  const exits = [first, third].map((child) => once(child ?? process, "exit"));
  const watchdog = spawn(command, args, { stdio: ["pipe", "inherit", "inherit"] });
  const ended = once(watchdog, "exit");
  watchdog.stdin.write(`+ ${first?.pid}\n+ ${second?.pid}\n- ${second?.pid}\n`);
  watchdog.stdin.end(`+ ${third?.pid}\n`);
  expect(await ended).toEqual([0, null]);
  await Promise.all(exits);
  expect(
    (await calls())
      .split("\n")
      .filter((line) => line !== "")
      .toSorted(),
  ).toEqual([first, third].map((child) => `/pid ${child?.pid} /T /F`).toSorted());
  expect(second?.exitCode).toBeNull();
  second?.kill("SIGKILL");
});

it("LC-5 the watchdog of an idle hub ends without a trace", async () => {
  const { command, args } = watchdogCommand("tag", "win32");
  const watchdog = spawn(command, args, { stdio: ["pipe", "inherit", "inherit"] });
  watchdog.stdin.end("+ 1234567\n.\n");
  expect(await once(watchdog, "exit")).toEqual([0, null]);
  await expect(calls()).rejects.toThrow("ENOENT");
});

it("SE-2 on Windows, a server gets what programs there need, in any case of letters, and nothing else", () => {
  const hub = {
    Path: String.raw`C:\Windows`,
    PATHEXT: ".COM;.EXE;.CMD",
    SystemRoot: String.raw`C:\Windows`,
    "ProgramFiles(x86)": String.raw`C:\Program Files (x86)`,
    TEMP: String.raw`C:\Temp`,
    API_KEY: "secret",
    MyPath: "no",
  };
  const { API_KEY: _key, MyPath: _own, ...expected } = hub;
  const options = { tag: "t", launcher: "npx" } as const;
  expect(childEnvironment(hub, {}, { ...options, platform: "win32" })).toEqual({
    ...expected,
    PLUGBOARD_INSTANCE: "t",
  });
  expect(childEnvironment(hub, {}, { ...options, platform: "linux" })).toEqual({ PLUGBOARD_INSTANCE: "t" });
  expect([isBasic("TEMP", "win32"), isBasic("TEMP", "linux")]).toEqual([true, false]);
});
