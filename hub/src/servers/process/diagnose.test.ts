import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Launcher } from "../../config/schema/types.ts";
import { diagnoseExit, diagnoseSpawn } from "./diagnose.ts";
import type { LaunchCommand } from "./command-line.ts";

const command = (launcher: Launcher): LaunchCommand => ({ command: launcher, args: [], env: {}, launcher });

// Recorded messages of the real tools (npm 11.19 and 8, uv 0.13 and 0.5). test/servers/launchers.test.ts runs the tools.
const NPM_404 = "npm error code E404\nnpm error 404 Not Found - GET https://registry.example/x";
const NPM_404_NAMED = `npm error code E404
npm error 404 Not Found - GET https://registry.example/@acme%2fx
npm error 404  The requested resource '@acme/x@*' could not be found or you do not have permission to access it.`;
const NPM_TARGET = `npm error code ETARGET
npm error notarget No matching version found for @acme/x@9.9.9.
npm error notarget In most cases you or one of your dependencies are requesting a package version that doesn't exist.`;
const UV_VERSION = `error: No solution found when resolving tool dependencies
  cause: Because there is no version of x==9 and you require x==9, we can conclude that your requirements are unsatisfiable.`;
const UV_PYTHON = `error: No solution found when resolving tool dependencies
  cause: Because newpy==1.0 requires Python >=3.14 and only newpy==1.0 is available, we can conclude that all versions of newpy cannot be used.`;
const UV_PYTHON_OLD = `  × No solution found when resolving tool dependencies:
  ╰─▶ Because the current Python version (3.11.2) does not satisfy Python>=3.14 and newpy==1.0 depends on Python>=3.14, we can conclude that newpy==1.0 cannot be used.`;
const UV_NONE = `error: No solution found when resolving tool dependencies
  cause: Because x was not found in the package registry and you require x, we can conclude that your requirements are unsatisfiable.`;
const UV_REFUSED = `error: Request failed after 3 retries in 6.1s
  cause: Failed to fetch: http://127.0.0.1:9/simple/x/
  cause: error sending request for url (http://127.0.0.1:9/simple/x/)`;

describe("a server that ended before its handshake", () => {
  it.each([
    ["npx", 1, NPM_404, "PackageNotFound"],
    ["npx", 1, "npm warn x\nnpm ERR! code E404\nnpm ERR! 404 Not Found", "PackageNotFound"],
    ["npx", 1, "npm error code ETARGET\nnpm error notarget No matching version found", "PackageNotFound"],
    ["npx", 1, "npm error code EINVALIDTAGNAME\nnpm error Invalid tag name", "PackageNotFound"],
    ["npx", 1, "npm error could not determine executable to run", "PackageNotFound"],
    ["npx", 1, "npm error code ECONNREFUSED\nnpm error syscall connect", "ConnectionFailed"],
    ["npx", 1, "npm error code ENOTFOUND\nnpm error syscall getaddrinfo", "ConnectionFailed"],
    ["npx", 1, "npm error   code: 'ECONNREFUSED',\nnpm error   errno: 'ECONNREFUSED',", "ConnectionFailed"],
    ["npx", 1, "Error: DATABASE_URL is not set", "ProcessSpawnFailed"],
    ["npx", 1, "the server says: npm error code E404", "ProcessSpawnFailed"],
    ["npx", 0, NPM_404, "ProcessSpawnFailed"],
    ["uvx", 1, UV_NONE, "PackageNotFound"],
    ["uvx", 1, "  × No solution found when resolving tool dependencies:", "PackageNotFound"],
    ["uvx", 2, "error: Failed to parse: `bad name!`", "PackageNotFound"],
    ["uvx", 1, "Package `requests` does not provide any executables.", "PackageNotFound"],
    ["uvx", 2, UV_REFUSED, "ConnectionFailed"],
    ["uvx", 1, `${UV_NONE}\n\nhint: Packages were unavailable because the network was disabled.`, "ConnectionFailed"],
    ["uvx", 1, "Traceback (most recent call last):", "ProcessSpawnFailed"],
    ["binary", 1, NPM_404, "ProcessSpawnFailed"],
  ] as const)("LC-3 F14 %s, exit code %i, %j is %s", async (launcher, code, stderr, kind) => {
    const error = await diagnoseExit(command(launcher), { code, signal: null }, stderr);
    expect(error.kind).toBe(kind);
    // All output is shown, the failure line first, unless the reason is known exactly.
    const lines = kind === "PackageNotFound" ? [] : stderr.split("\n");
    for (const line of lines) expect(error.detail).toContain(line.trim());
  });

  it.each([
    ["npx", "@acme/x", NPM_404_NAMED, "Package not found", "@acme/x is not on the npm registry"],
    ["npx", "parent", NPM_404_NAMED, "Package not found", "@acme/x, which parent needs, is not on the npm registry"],
    ["npx", "@acme/x@9.9.9", NPM_TARGET, "Version not found", "There is no @acme/x@9.9.9 on the npm registry"],
    [
      "npx",
      "parent@1",
      NPM_TARGET,
      "Version not found",
      "There is no @acme/x@9.9.9 on the npm registry, which parent@1 needs",
    ],
    ["uvx", "x", UV_NONE, "Package not found", "x is not on the Python package index"],
    ["uvx", "x==9", UV_VERSION, "Version not found", "There is no x==9 on the Python package index"],
    ["uvx", "newpy", UV_PYTHON, "No version for this Python", "newpy needs Python >=3.14"],
    ["uvx", "newpy", UV_PYTHON_OLD, "No version for this Python", "newpy needs Python >=3.14"],
  ] as const)("%s of %s: the message is that of the cause", async (launcher, asked, stderr, message, what) => {
    const given = { ...command(launcher), args: ["-y", asked] };
    const error = await diagnoseExit(given, { code: 1, signal: null }, stderr);
    expect(error).toMatchObject({ kind: "PackageNotFound", message, hint: expect.any(String) });
    expect(error.detail).toBe(what);
  });

  it.each([
    [
      "Error: GITHUB_TOKEN environment variable is required\n    at main (x.js:1)\nNode.js v20.20.2",
      "env.GITHUB_TOKEN",
    ],
    ["Please set BRAVE_API_KEY", "env.BRAVE_API_KEY"],
    [
      "Error: No access token was provided.\nPass `--token` / `ACME_TOKEN`.\nUsage: x\n  B_C is required",
      "env.ACME_TOKEN",
    ],
    ["Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x'", undefined],
    ["SOME_NAME is fine", undefined],
  ])("the missing variable of %j is named", async (stderr, field) => {
    expect((await diagnoseExit(command("binary"), { code: 1, signal: null }, stderr)).field).toBe(field);
  });

  it("a program that names an option for stdio", async () => {
    const usage = "Usage: server [options]\n  --stdio  speak over stdio";
    const error = await diagnoseExit(command("binary"), { code: 1, signal: null }, usage);
    expect(error.hint).toBe("Its usage names an option for stdio: add it to args");
  });

  it.each([
    ["npx", "npm is not installed", "https://nodejs.org"],
    ["uvx", "uv is not installed", "https://docs.astral.sh/uv"],
    ["docker", "Docker is not installed", "https://docs.docker.com/get-docker"],
  ] as const)("LC-3 a missing %s is NOT_FOUND with the install command", async (launcher, message, address) => {
    const error = await diagnoseSpawn(command(launcher), Object.assign(new Error(), { code: "ENOENT" }));
    expect(error).toMatchObject({ kind: "LauncherNotInstalled", code: "NOT_FOUND", message });
    expect(error).toMatchObject({ detail: `The command ${launcher} was not found`, field: "command" });
    expect(error.hint).toContain(address);
  });

  it("LC-3 has the messages that the requirements name", async () => {
    const missing = await diagnoseExit(command("npx"), { code: 1, signal: null }, NPM_404);
    expect(missing).toMatchObject({ code: "NOT_FOUND", message: "Package not found" });
    const crashed = await diagnoseExit(command("binary"), { code: 7, signal: null }, "");
    expect(crashed).toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      message: "The server exited with code 7 before the handshake",
      detail: undefined,
    });
    const killed = await diagnoseExit(command("binary"), { code: null, signal: "SIGSEGV" }, "");
    expect(killed.message).toBe("The server was ended by SIGSEGV before the handshake");
  });
});

/** A docker client that only sets exit codes. */
async function client(version: number, inspect: number): Promise<LaunchCommand> {
  const folder = await mkdtemp(join(tmpdir(), "docker-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "docker");
  const script = `#!/bin/sh\ncase $1 in version) exit ${version} ;; image) [ "$6" = img:1 ] && exit ${inspect} ;; esac\nexit 9\n`;
  await writeFile(path, script, { mode: 0o755 });
  return { command: path, args: ["run", "--init", "-e", "A", "img:1", "arg"], env: {}, launcher: "docker" };
}

it("LC-3 shows the last lines of stderr, and searches the whole tail", async () => {
  const lines = ["npm error code ECONNREFUSED", ...Array.from({ length: 20 }, (_, n) => `line ${n}`)];
  const error = await diagnoseExit(command("npx"), { code: 1, signal: null }, lines.join("\n"));
  expect(error.kind).toBe("ConnectionFailed");
  expect(error.detail?.split("\n").slice(-12)).toEqual(lines.slice(-12));
});

describe("a docker server that ended before its handshake (stand-in client)", () => {
  it.each([
    ["no engine", 1, 1, 125, "DockerNotRunning", "Docker not running"],
    ["no engine any more", 1, 1, 1, "DockerNotRunning", "Docker not running"],
    ["no image", 0, 1, 125, "PackageNotFound", "Package not found"],
    ["bad options", 0, 0, 125, "ProcessSpawnFailed", "The server exited with code 125 before the handshake"],
    ["a server that fails", 0, 1, 1, "ProcessSpawnFailed", "The server exited with code 1 before the handshake"],
  ] as const)("LC-3 %s is detected by exit codes", async (_what, version, inspect, code, kind, message) => {
    const error = await diagnoseExit(await client(version, inspect), { code, signal: null }, "words");
    expect(error).toMatchObject({ kind, message, detail: "words" });
  });
});

describe("a program that may not be executed", () => {
  it.each([
    ["a script", "#!/bin/sh\n", "chmod"],
    ["any other file", "root:x:0:0\n", undefined],
    ["an empty file", "", undefined],
  ])("LC-3 %s: the fix names the file to make executable", async (_, text, advice) => {
    const folder = await mkdtemp(join(tmpdir(), "plugboard-spawn-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, "file");
    await writeFile(path, text, { mode: 0o644 });
    const refused = Object.assign(new Error("spawn EACCES"), { code: "EACCES" });
    const error = await diagnoseSpawn({ ...command("binary"), command: path }, refused);
    expect(error).toMatchObject({ kind: "InvalidConfig", message: `${path} is not executable` });
    expect(error.hint).toBe(advice === undefined ? undefined : `chmod +x '${path}'`);
  });
});
