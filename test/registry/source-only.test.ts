// Entries that name only their source (S0 McpSource): their registry completes them, and what it said is kept for the time without it.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hubPaths } from "../../hub/src/config/files/paths.ts";
import { Hub } from "../../hub/src/hub/hub.ts";
import { FakeRegistry, npmServer } from "../support/fake-registry.ts";
import { makeHome, type Home } from "../support/hub.ts";

let fake: FakeRegistry;
let home: Home;
let hub: Hub | undefined;

const KEY = {
  environmentVariables: [
    { name: "KEY", isRequired: true, isSecret: true },
    { name: "MODE", default: "fast" },
  ],
};
const SOURCE = { name: "io.example/keyed", version: "1.0.0" };

beforeEach(async () => {
  fake = await FakeRegistry.open([npmServer("io.example/keyed", KEY), npmServer("io.example/plain")]);
});
afterEach(async () => {
  await hub?.stop();
  hub = undefined;
  await fake.close();
  await home.remove();
});

async function open(servers: Readonly<Record<string, object>>): Promise<Hub> {
  home = await makeHome(undefined);
  // A second hub in the same home has the same files.
  await writeFile(join(home.dir, "config/mcp_server.json"), JSON.stringify({ mcpServers: servers }));
  const registries = [{ name: "official", url: fake.url }, { name: "company", url: fake.url }, "curated"];
  await writeFile(join(home.dir, "config/hub.json"), JSON.stringify({ registries }));
  return reopen();
}

async function reopen(): Promise<Hub> {
  await hub?.stop();
  const paths = hubPaths({ env: home.env, platform: process.platform, home: home.dir });
  hub = await Hub.open({ paths, variables: { ...home.env, PATH: process.env["PATH"] } });
  return hub;
}

const configOf = (name: string) => hub?.supervisor.get(name).config;
const commandOf = (name: string) => {
  const transport = configOf(name)?.transport;
  return transport?.type === "stdio" ? [transport.command, ...transport.args] : transport?.url;
};

describe("RG-1 CF-1 an entry with only a source", () => {
  it.each([
    ["Official of S0", { source: { Official: SOURCE } }],
    ["type official", { source: { type: "official", ...SOURCE } }],
    ["a registry of hub.json", { source: { registry: "company", ...SOURCE } }],
  ])("RG-1 %s is completed, with the values of the entry", async (_what, entry) => {
    await open({ it: { ...entry, env: { KEY: { secretRef: "stored" } }, enabled: false, description: "Mine" } });
    expect(configOf("it")?.invalid?.message).toMatch(/has not yet said what io.example\/keyed runs/);
    await hub?.start();
    await expect.poll(() => commandOf("it")).toEqual(["npx", "-y", "@example/keyed@1.0.0"]);
    expect(configOf("it")).toMatchObject({
      enabled: false,
      description: "Mine",
      env: { KEY: { secretRef: "stored", isSecret: true, required: true }, MODE: { value: "fast" } },
    });
    expect(configOf("it")?.source).not.toEqual({ type: "manual" });
    const file = await readFile(join(home.dir, "config/mcp_server.json"), "utf8");
    expect(Object.keys(JSON.parse(file).mcpServers.it), "the file stays as it is").toContain("source");
    expect(file).not.toContain("npx");
  });

  it("RG-1 without the registry, what it said is used; nothing is asked again", async () => {
    await open({ it: { source: { Official: SOURCE }, env: { KEY: "literal-key-value" }, enabled: false } });
    await hub?.start();
    await expect.poll(() => commandOf("it")).toBeDefined();
    await expect.poll(() => configOf("it")?.invalid).toBeUndefined();
    const asked = fake.asked.length;
    await fake.close();
    await reopen();
    expect(configOf("it")?.invalid).toBeUndefined();
    expect(configOf("it")?.env["KEY"]).toMatchObject({ value: "literal-key-value", isSecret: true });
    expect(fake.asked).toHaveLength(asked);
  });

  it("RG-1 LC-7 a registry that cannot be reached: the entry is in error with the reason, and all others start", async () => {
    fake.mood = 500;
    await open({ it: { source: { Official: SOURCE }, env: { KEY: "k" } }, other: { command: "none", enabled: false } });
    await hub?.start();
    await expect
      .poll(() => configOf("it")?.invalid?.message)
      .toBe("io.example/keyed cannot be completed: official: official answered with HTTP status 500");
    expect(configOf("other")?.invalid).toBeUndefined();
    expect(hub?.supervisor.get("it").status).toMatchObject({ state: "error" });
  });

  it("RG-1 MC-NT4 a required value that is missing: in error, and named", async () => {
    await open({ it: { source: { Official: SOURCE } } });
    await hub?.start();
    await expect.poll(() => configOf("it")?.invalid?.message).toBe("Missing required credentials: KEY");
  });

  it("RG-1 a server that the registry does not have", async () => {
    await open({ it: { source: { Official: { name: "io.example/none", version: "1.0.0" } } } });
    await hub?.start();
    await expect.poll(() => configOf("it")?.invalid?.message).toBe("official has no server io.example/none 1.0.0");
  });

  it("RG-1 MC-NT4 created through the hub, it is saved complete, or not at all", async () => {
    await open({});
    await expect(hub?.configuration.createServer({ name: "it", source: { Official: SOURCE } })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      message: "Missing required credentials: KEY",
    });
    expect(hub?.supervisor.servers).toEqual([]);
    const plain = {
      name: "it",
      source: { registry: "company", name: "io.example/plain", version: "1.0.0" },
      enabled: false,
    };
    await hub?.configuration.createServer(plain);
    const file = JSON.parse(await readFile(join(home.dir, "config/mcp_server.json"), "utf8"));
    expect(file.mcpServers.it).toMatchObject({
      command: "npx",
      args: ["-y", "@example/plain@1.0.0"],
      source: plain.source,
    });
  });

  it("RG-1 it can be disabled and enabled like others", async () => {
    await open({ it: { source: { registry: "company", name: "io.example/plain", version: "1.0.0" }, enabled: true } });
    await hub?.start();
    await expect.poll(() => configOf("it")?.invalid).toBeUndefined();
    await hub?.configuration.setEnabled("it", false);
    expect(configOf("it")).toMatchObject({ enabled: false, source: { registry: "company" } });
  });
});
