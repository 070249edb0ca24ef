// The published packages: what is in the tarballs, and that they work in an empty folder.

import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { onLines, Messages } from "../support/streams.ts";
import { startDocker, type DockerEngine } from "../support/docker.ts";
import { typeErrors } from "../support/typescript.ts";
import { Published, type Tarball } from "./published.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

let published: Published;

beforeAll(async () => {
  published = await Published.open();
});
afterAll(() => published?.close());

/** Read when a test runs: the tarballs are there by then. */
const TARBALLS: readonly (readonly [string, () => Tarball])[] = [
  ["plugboard", () => published.hub],
  ["plugboard-chat", () => published.chat],
];

describe.each(TARBALLS)("the tarball of %s", (name, tarball) => {
  it("publint finds nothing to improve", async () => {
    const { pkg, messages } = await publint({ pkgDir: "package", pack: { tarball: tarball().bytes.buffer } });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  it("its types are right however it is imported", async () => {
    const analysis = await checkPackage(createPackageFromTarballData(tarball().bytes));
    // ES modules only: require() of one works from Node 20.19 on.
    const problems = analysis.types === false ? ["no types"] : analysis.problems.map(({ kind }) => kind);
    expect(problems.filter((kind) => kind !== "CJSResolvesToESM" && kind !== "NoResolution")).toEqual([]);
  });

  it("has a licence, a README, and neither tests nor sources", () => {
    const { files } = tarball();
    expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md", "package.json"]));
    expect(files.filter((file) => /\.test\.|\.map$|(?<!\.d)\.ts$|tsbuildinfo/.test(file))).toEqual([]);
    expect(files.filter((file) => file.endsWith(".d.ts"))).toHaveLength(1);
  });

  it("says who publishes it, where its source is, and needs no install script", async () => {
    const folder = name === "plugboard" ? "hub" : "chat";
    const manifest = JSON.parse(await readFile(join(ROOT, folder, "package.json"), "utf8"));
    expect(manifest).toMatchObject({ name, license: "MIT", repository: { type: "git", directory: folder } });
    expect(manifest.keywords).toContain("mcp");
    expect(Object.keys(manifest.scripts)).toEqual(["prepack"]);
    expect(await readFile(join(ROOT, folder, "LICENSE"), "utf8")).toBe(await readFile(join(ROOT, "LICENSE"), "utf8"));
  });
});

it("the library exports every type of its functions and classes", async () => {
  const text = await readFile(join(ROOT, "hub/dist/types/index.d.ts"), "utf8");
  // Types are exported by the bundler; a class only if hub/src/index.ts or hub/src/api/client/types.ts names it.
  const hidden = [...text.matchAll(/^(?:declare class|interface|type) (\w+)/gm)].map(([, name]) => name);
  expect(hidden).toEqual(["Connection"]);
  expect(text).toContain("export type ErrorKind = ");
});

describe("installed into an empty folder", () => {
  beforeAll(() => published.install(published.hub));

  it("brings only what is not in the bundle, and not the chat server", async () => {
    const names = await readdir(join(published.project, "node_modules"));
    expect(names).toEqual(expect.arrayContaining(["plugboard", "oidc-provider"]));
    for (const bundled of ["plugboard-chat", "hono", "zod", "commander", "undici"])
      expect(names).not.toContain(bundled);
    const failed = await published.run("npx", ["--no-install", "plugboard", "chat", "--help"]).catch((error) => error);
    expect(failed.code).toBe(6);
    expect(failed.stderr).toContain("plugboard-chat is not installed");
  });

  it("npx plugboard up runs the hub, and npx plugboard call makes the first call", async () => {
    const { project: cwd, env } = published;
    const hub = spawn("npx", ["--no-install", "plugboard", "up", "--port", "0"], { cwd, env, detached: true });
    const exited = once(hub, "exit");
    const said = new Messages();
    for (const stream of [hub.stdout, hub.stderr]) onLines(stream, (line) => said.push(line));
    void exited.then(() => said.end());
    try {
      await said.find((line: string) => line.includes("Press Ctrl-C to stop"));
      const { stdout } = await published.run("npx", [
        "--no-install",
        "plugboard",
        "call",
        "now",
        "timezone=Asia/Tokyo",
      ]);
      expect(stdout).toMatch(/^\w+day, .*GMT\+9 \(Asia\/Tokyo\)\n$/);
    } finally {
      if (hub.pid !== undefined && hub.exitCode === null) process.kill(-hub.pid, "SIGINT");
      await exited;
    }
  });

  it("MG-2 CL-8 the library runs, with servers in memory and with a folder of its own", async () => {
    const server = join(ROOT, "test/fixtures/servers/echo.mjs");
    const program = `
      import { createHub, HubClient, HubError, McpClient } from "plugboard";
      const echo = { command: process.execPath, args: [${JSON.stringify(server)}] };
      for (const options of [{ config: { mcpServers: { echo } } }, { home: "./own" }]) {
        const hub = await createHub(options);
        if (hub.servers.list().length === 0) await hub.servers.create({ name: "echo", ...echo });
        await hub.servers.startAll();
        console.log((await hub.callTool("echo", "echo", { text: "hello" })).content);
        await hub.close();
      }
      console.log(typeof HubClient, typeof HubError, typeof McpClient);`;
    await writeFile(join(published.project, "program.mjs"), program);
    const { stdout } = await published.run(process.execPath, ["program.mjs"]);
    expect(stdout).toBe("hello\nhello\nfunction function function\n");
  });

  it("a strict TypeScript program compiles against its types, which need only those of Node", async () => {
    const consumer = `
      import { createHub, HubClient, McpClient, type Call, type EmbeddedHub, type Server, type Status } from "plugboard";
      import type { ServersClient } from "plugboard";
      await using hub: EmbeddedHub = await createHub({ config: { mcpServers: { docs: "https://docs.example/mcp" } } });
      const status: Status = hub.servers.status("docs");
      if (status.state === "error") console.log(status.error.kind);
      await using client = await McpClient.connect("docs", new URL("https://docs.example/mcp"), { headers: { a: "b" } });
      console.log(client.tools[0]?.name);
      const remote = new HubClient({ url: "http://127.0.0.1:7430", token: "t" });
      const servers: ServersClient = remote.servers;
      const all: Server[] = await servers.list();
      const call: Call = await remote.calls.get(1);
      // @ts-expect-error: an outcome is one of five
      if (call.outcome === "fine") console.log(all[0]?.config.name);`;
    const file = join(published.project, "consumer.mts");
    await writeFile(file, consumer);
    const options = { paths: {}, skipLibCheck: false, lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts"] };
    // Those of Node have errors of their own when they are checked so strictly.
    expect(typeErrors([file], options).filter((error) => error.startsWith(published.folder))).toEqual([]);
  });

  it("with plugboard-chat beside it, plugboard chat works", async () => {
    await published.install(published.chat);
    const { stdout } = await published.run("npx", ["--no-install", "plugboard", "chat", "--help"]);
    expect(stdout).toContain("plugboard chat");
    expect((await published.run("npx", ["--no-install", "plugboard-chat", "--version"])).stdout).toMatch(
      /\d+\.\d+\.\d+/,
    );
  });
});

describe("the container image", () => {
  let docker: DockerEngine | { readonly missing: string };
  const names = { network: "--network=none", container: "hub" };

  beforeAll(async () => {
    docker = await startDocker();
  });
  afterAll(async () => {
    if ("close" in docker) await docker.close();
  });

  it("runs the hub as another user than root, on a read-only disk, and is healthy", async ({ skip }) => {
    if ("missing" in docker) return skip(docker.missing);
    const engine = docker;
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await engine.docker(...args);
      expect([args[0], code, code === 0 ? "" : stderr]).toEqual([args[0], 0, ""]);
      return stdout.trim();
    };
    const base = await engine.importNode();
    // What the first stage makes, from the packages of this test: no registry is needed.
    const dockerfile = await readFile(join(ROOT, "deploy/Dockerfile"), "utf8");
    const [, last = ""] = dockerfile.split(/^FROM \$\{BASE\}$/m);
    const stages = `ARG BASE\nFROM scratch AS build\nCOPY project /app\nCOPY data /data\nFROM \${BASE}\n${last}`;
    await mkdir(join(published.folder, "data"));
    await writeFile(join(published.folder, "Dockerfile"), stages);
    await run("build", "--quiet", "--tag", "plugboard", "--build-arg", `BASE=${base}`, published.folder);
    const limits = ["--init", "--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--security-opt=no-new-privileges"];
    await run(
      "run",
      "--detach",
      "--name",
      names.container,
      names.network,
      ...limits,
      "--health-interval=1s",
      "plugboard",
    );
    const health = () => run("inspect", "--format", "{{.State.Health.Status}}", names.container);
    await expect.poll(health, { timeout: 60_000, interval: 500 }).toBe("healthy");
    expect(await run("exec", names.container, "plugboard", "call", "now", "timezone=Asia/Tokyo")).toContain("Tokyo");
    const who = "console.log(process.getuid(), require('fs').statSync('/data').uid)";
    expect(await run("exec", names.container, "node", "-e", who)).toBe("10001 10001");
    await run("stop", "--time=30", names.container);
    expect(await run("inspect", "--format", "{{.State.ExitCode}}", names.container)).toBe("0");
  });
});
