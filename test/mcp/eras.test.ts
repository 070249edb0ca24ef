// Detection of a server's era: every fixture, over stdio and HTTP, and the stored result.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { fixture, type Servers } from "../support/hub.ts";
import { callText, openInProcess, type InProcess } from "../support/in-process.ts";
import { processesWithMark } from "../support/processes.ts";
import { startRemote, type Remote } from "../support/remote.ts";

const opened: InProcess[] = [];
const remotes: Remote[] = [];

/** A hub with one server, started; its start may have failed. */
async function open(
  entry: Servers[string],
  { more = {}, variables = {} }: { more?: Servers; variables?: Record<string, string> } = {},
) {
  const inProcess = await openInProcess({ it: entry, ...more }, { variables });
  opened.push(inProcess);
  await inProcess.hub.start();
  const server = inProcess.hub.supervisor.get("it");
  return { ...inProcess, server, heard: async () => JSON.parse(await callText(inProcess.hub, "it", "heard")) };
}

async function remote(...args: Parameters<typeof startRemote>): Promise<Remote> {
  const started = await startRemote(...args);
  remotes.push(started);
  return started;
}

afterEach(async () => {
  for (const { end } of opened.splice(0)) expect(await end()).toEqual([]);
  for (const { stop } of remotes.splice(0)) await stop();
});

const PROBED = ["server/discover", "initialize", { "notifications/initialized": {} }, "tools/list"];

describe("stdio", () => {
  it.each(["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])(
    "CL-2 a legacy server of %s is used in its revision",
    async (version) => {
      const { server, hub } = await open(fixture("echo", version));
      expect(server.info).toMatchObject({ era: "legacy", version, serverInfo: { name: "fixture" } });
      expect(await callText(hub, "it", "add", { a: 1, b: 1 })).toBe("2");
    },
  );

  it("CL-2 the newest version is offered, and initialized follows", async () => {
    const { server, heard } = await open(fixture("echo"));
    expect(server.info?.version).toBe("2025-11-25");
    expect((await heard()).slice(0, 4)).toEqual(PROBED);
  });

  it.each(["modern", "dual"])("CL-2 %s is used in 2026-07-28, without a handshake", async (name) => {
    const { server, heard } = await open(fixture(name));
    expect(server.info).toMatchObject({ era: "modern", version: "2026-07-28", serverInfo: { name: "fixture" } });
    const methods = await heard();
    expect(methods[0]).toBe("server/discover");
    expect(methods).not.toContain("initialize");
  });

  it("CL-2 a server that exits on the modern probe is started again with the legacy handshake", async () => {
    const { home } = await openInProcess({}).then((inProcess) => {
      opened.push(inProcess);
      return inProcess;
    });
    const file = join(home.dir, "starts");
    const { server, heard, home: own } = await open(fixture("exits-on-probe", file));
    expect(server.info).toMatchObject({ era: "legacy" });
    expect(await readFile(file, "utf8")).toBe("started\n".repeat(2));
    expect((await heard())[0]).toBe("initialize");
    expect(processesWithMark(own.mark)).toHaveLength(1);
    await server.stop();
    await server.start();
    // Stored: no third start for a probe.
    expect(await readFile(file, "utf8")).toBe("started\n".repeat(3));
  });

  it("CL-2 a server that does not answer the modern probe gets the legacy handshake on the same connection", async () => {
    const { server, heard } = await open({ ...fixture("silent-on-probe"), timeouts: { startMs: 3000 } });
    expect(server.status).toMatchObject({ state: "running" });
    expect((await heard()).slice(0, 4)).toEqual(PROBED);
  });

  it("CL-2 LC-10 the era of a server that answers the probe late is detected", async () => {
    const timeouts = { startMs: 6000 };
    const { hub } = await open(
      { ...fixture("slow-start", "3500", "modern"), timeouts },
      { more: { old: { ...fixture("slow-start", "3500", "legacy"), timeouts } } },
    );
    expect(hub.supervisor.servers.map(({ info: hello }) => hello?.era)).toEqual(["modern", "legacy"]);
  });

  it("CL-2 F16 an unknown version of a server is an error that names it", async () => {
    const { server, home } = await open(fixture("echo", "1999-01-01"));
    expect(server.status).toMatchObject({
      state: "error",
      error: { code: "NETWORK_ERROR", kind: "InitializationFailed", message: expect.stringContaining("1999-01-01") },
    });
    expect(processesWithMark(home.mark)).toEqual([]);
  });

  it("LC-3 a missing package is not started twice", async () => {
    const { home } = await openInProcess({}).then((inProcess) => {
      opened.push(inProcess);
      return inProcess;
    });
    // Behaves like npx if the package does not exist.
    const file = join(home.dir, "starts");
    await writeFile(
      join(home.dir, "npx"),
      `#!/bin/sh\necho started >> ${file}\necho "npm error code E404" >&2\nexit 1\n`,
      { mode: 0o755 },
    );
    const variables = { PATH: `${home.dir}:${process.env["PATH"]}` };
    const { server } = await open({ command: join(home.dir, "npx"), args: ["-y", "no-such-package"] }, { variables });
    expect(server.status).toMatchObject({ error: { kind: "PackageNotFound", message: "Package not found" } });
    expect(await readFile(file, "utf8")).toBe("started\n");
  });
});

describe("HTTP", () => {
  it.each([
    ["legacy-http", [], "2025-11-25", "legacy"],
    ["legacy-http", ["--sse"], "2025-11-25", "legacy"],
    ["modern-http", [], "2026-07-28", "modern"],
    ["modern-http", ["--sse"], "2026-07-28", "modern"],
  ])("CL-2 CL-7 %s %j is used in %s", async (name, args, version, era) => {
    const { entry } = await remote(name, args);
    const { server, hub, heard } = await open(entry);
    expect(server.info).toMatchObject({ era, version });
    expect((await heard())[0]).toBe("server/discover");
    expect(await callText(hub, "it", "echo", { text: "é ✓" })).toBe("é ✓");
  });

  it("CL-7 headers of the config are sent with their variables expanded", async () => {
    const { url } = await remote("legacy-http", ["--key=k3y"]);
    const entry = { url, headers: { Authorization: "Bearer ${KEY}" } };
    const { server } = await open(entry, { variables: { KEY: "k3y" } });
    expect(server.status).toMatchObject({ state: "running" });
  });

  it("CL-2 a refused credential is reported as such, and does not decide the era", async () => {
    const { entry } = await remote("legacy-http", ["--key=k3y"]);
    const { server } = await open(entry);
    expect(server.status).toMatchObject({ state: "unauthenticated", error: { code: "UNAUTHENTICATED" } });
  });

  it.each([500, 502, 503])("CL-2 HTTP %d is an outage, and does not decide the era", async (status) => {
    const { entry } = await remote("legacy-http", [`--status=${status}`]);
    const { server } = await open(entry);
    expect(server.status).toMatchObject({
      state: "error",
      error: { code: "NETWORK_ERROR", message: `The server answered with HTTP status ${status}` },
    });
  });

  it("LC-3 a refused connection is NETWORK_ERROR", async () => {
    const { entry, stop } = await startRemote("legacy-http");
    await stop();
    const { server } = await open(entry);
    expect(server.status).toMatchObject({
      state: "error",
      error: {
        code: "NETWORK_ERROR",
        detail: expect.stringMatching(/^Nothing listens at 127\.0\.0\.1:\d+ \(ECONNREFUSED\)$/),
      },
    });
  });

  it("CF-5 an invalid url after expansion is VALIDATION_ERROR", async () => {
    const { server } = await open({ url: "${BASE}/mcp" }, { variables: { BASE: "no url" } });
    expect(server.status).toMatchObject({ state: "error", error: { code: "VALIDATION_ERROR", field: "url" } });
  });
});

describe("memory", () => {
  const ERAS = "data/eras.json";

  it("CL-2 a legacy result is stored in data/eras.json, and the next start skips the probe", async () => {
    const { server, home, heard, end } = await open(fixture("echo"));
    expect((await heard())[0]).toBe("server/discover");
    await server.stop();
    await server.start();
    expect((await heard())[0]).toBe("initialize");
    const verdicts = Object.values(JSON.parse(await readFile(join(home.dir, ERAS), "utf8")));
    expect(verdicts).toEqual([{ era: "legacy", at: expect.any(Number) }]);
    opened.pop();
    expect(await end()).toEqual([]);
  });

  it("CL-2 another hub with the same home uses it too", async () => {
    const first = await open(fixture("echo"));
    await first.hub.stop();
    const second = await openInProcess({ it: fixture("echo") });
    opened.push(second);
    await writeFile(join(second.home.dir, ERAS), await readFile(join(first.home.dir, ERAS)));
    const { Hub } = await import("../../hub/src/hub/hub.ts");
    const { hubPaths } = await import("../../hub/src/config/files/paths.ts");
    const paths = hubPaths({ env: second.home.env, platform: process.platform, home: second.home.dir });
    const hub = await Hub.open({ paths, variables: second.home.env });
    await hub.start();
    expect(JSON.parse(await callText(hub, "it", "heard"))[0]).toBe("initialize");
    await hub.stop();
  });

  it("CL-2 a damaged file only costs a probe", async () => {
    const { home, heard, server } = await open(fixture("echo"));
    await writeFile(join(home.dir, ERAS), '{"half":');
    await server.stop();
    await server.start();
    expect((await heard())[0]).toBe("initialize");
  });

  it("CL-2 a server that became modern-only is detected, though it is stored as legacy", async () => {
    const first = await remote("legacy-http");
    const { server } = await open(first.entry);
    expect(server.info?.era).toBe("legacy");
    await server.stop();
    await first.stop();
    await remote("modern-http", [], first.port);
    await server.start();
    expect(server.info?.era).toBe("modern");
  });

  it("CL-2 a server that became legacy is detected, though it is stored as modern", async () => {
    const first = await remote("modern-http");
    const { server } = await open(first.entry);
    expect(server.info?.era).toBe("modern");
    await server.stop();
    await first.stop();
    await remote("legacy-http", [], first.port);
    await server.start();
    expect(server.info?.era).toBe("legacy");
  });
});
