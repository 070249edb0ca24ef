// Details of the management contract: entries, credentials, enabling, times.

import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHub } from "../../hub/src/index.ts";
import { openManaged, type Answer, type ManagedHub } from "../support/api.ts";
import { fixture, makeHome, plugboard } from "../support/hub.ts";
import { callText } from "../support/in-process.ts";

let managed: ManagedHub;

beforeAll(async () => {
  managed = await openManaged({
    a: fixture("echo"),
    b: fixture("echo"),
    nope: { command: "/no/such/program" },
    off: { command: "/no/such/program", enabled: false },
    waits: { ...fixture("echo"), env: { API_KEY: { secretRef: "late", required: true } } },
    sec: {
      ...fixture("echo"),
      env_vars: { OPT: { value: "x" }, NOVAL: { is_secret: false }, ABSENT: { secret_ref: "absent-opt" } },
    },
    remote: {
      url: "http://127.0.0.1:1/mcp",
      headers: { Authorization: "Bearer ${KEY}" },
      env: { KEY: { secretRef: "none" } },
    },
  });
  await managed.hub.start();
});

afterAll(async () => expect(await managed.end()).toEqual([]));

const ask = (method: string, path: string, body?: unknown): Promise<Answer> =>
  managed.ask(path, { method, ...(body === undefined ? {} : { body }) });
const file = async () => JSON.parse(await readFile(join(managed.paths.config, "mcp_server.json"), "utf8")).mcpServers;

it("MG-2 findToolProvider returns the id", async () => {
  const id = "6f9619ff-8b86-d011-b42d-00c04fc964ff";
  const hub = await createHub({ config: { mcpServers: { a: { id, ...fixture("echo") } } } });
  await hub.startAll();
  expect([hub.findToolProvider("echo"), hub.findToolProvider("nothing")]).toEqual([id, undefined]);
  await hub.shutdownAll();
});

describe("saving through the API", () => {
  const npm = { package_type: "Npm", identifier: "@x/y" };
  const registry = {
    registryType: "npm",
    identifier: "@x/y",
    version: "1.2.3",
    transport: { type: "stdio" },
    environmentVariables: [
      { name: "API_KEY", isRequired: true, isSecret: true },
      { name: "MODE", default: "fast" },
    ],
  };
  const secret = { env_vars: { API_KEY: { value: "v" } } };

  it.each<[string, object, object]>([
    [
      "a binary with an interpreter",
      { package: { package_type: "Binary", identifier: "/tmp/x.py", runtime_hint: "python3" }, transport: "Stdio" },
      { command: "python3", args: ["/tmp/x.py"] },
    ],
    [
      "npm with bunx",
      { package: { ...npm, runtime_hint: "bunx" }, transport: "Stdio" },
      { command: "bunx", args: ["@x/y"] },
    ],
    [
      "npm with pnpm",
      { package: { ...npm, runtime_hint: "pnpm" }, transport: "Stdio" },
      { command: "pnpm", args: ["dlx", "@x/y"] },
    ],
    [
      "PyPI with pipx",
      { package: { type: "pypi", identifier: "p", runtime_hint: "pipx" }, transport: "stdio" },
      { command: "pipx", args: ["run", "p"] },
    ],
    ["CF-2 npm without a hint", { package: npm, transport: "Stdio" }, { command: "npx", args: ["-y", "@x/y"] }],
    [
      "a package of the registry",
      { package: registry, ...secret },
      { command: "npx", args: ["-y", "@x/y@1.2.3"], env: { API_KEY: "***", MODE: "fast" } },
    ],
    [
      "an image of the registry",
      { package: { registryType: "oci", identifier: "docker.io/x/y", version: "1" }, transport: "stdio" },
      { command: "docker", args: ["run", "--rm", "-i", "docker.io/x/y:1"] },
    ],
  ])("%s", async (_, entry, config) => {
    const { status, json } = await ask("POST", "/servers", { name: "new", enabled: false, ...entry });
    expect([status, json]).toMatchObject([201, { config }]);
    await ask("DELETE", "/servers/new");
  });

  it.each<[string, object, object]>([
    ["CF-7 a package without transport", { package: npm }, { message: "Transport required", field: "transport" }],
    ["CF-7 an empty transport", { package: npm, transport: "" }, { message: "Transport required", field: "transport" }],
    [
      "a hint that cannot run it",
      { package: { ...npm, runtime_hint: "cargo" }, transport: "stdio" },
      { field: "package.runtime_hint", message: expect.stringContaining("npx, bunx") },
    ],
    [
      "CF-6 MC-NT4 a required secret that is not stored",
      { ...fixture("echo"), env: { API_KEY: { secretRef: "nosuch", required: true } } },
      { message: "Missing required credentials", field: "env.API_KEY", hint: "plugboard secret set nosuch" },
    ],
    [
      "MC-NT4 a variable that the registry requires",
      {
        package: { type: "npm", identifier: "@x/y" },
        transport: "stdio",
        env_vars: { API_KEY: { name: "API_KEY", isRequired: true, isSecret: true } },
      },
      { message: "Missing required credentials", field: "env.API_KEY" },
    ],
    [
      "MC-NT4 the same, in the registry's package",
      { package: registry },
      { message: "Missing required credentials", field: "env.API_KEY" },
    ],
    [
      "RG-1 MC-NT4 a source whose registry requires a variable",
      { source: { registry: "curated", name: "exa" } },
      { message: "Missing required credentials: EXA_API_KEY" },
    ],
    [
      "RG-1 a source that its registry does not have",
      { source: { registry: "curated", name: "nosuch" } },
      { field: "source", message: "curated has no server nosuch" },
    ],
  ])("%s is refused, and not saved", async (_, entry, problem) => {
    const before = await file();
    const { status, json } = await ask("POST", "/servers", { name: "new", enabled: false, ...entry });
    expect([status, json]).toMatchObject([400, { code: "VALIDATION_ERROR", ...problem }]);
    expect(await file()).toEqual(before);
  });

  it("a required secret blocks a change that asks for it, and no other", async () => {
    const env = { API_KEY: { secretRef: "nosuch", required: true } };
    expect((await ask("PATCH", "/servers/b", { env })).json).toMatchObject({ message: "Missing required credentials" });
    expect((await ask("PATCH", "/servers/waits", { description: "still waits" })).status).toBe(200);
  });

  it("PATCH removes a variable by null, in either spelling", async () => {
    for (const key of ["env_vars", "env"]) {
      await ask("PATCH", "/servers/sec", { [key]: { OPT: "y", TWO: "z" } });
      expect((await ask("GET", "/servers/sec")).json.config.env).toMatchObject({ OPT: "y", TWO: "z" });
      const { status } = await ask("PATCH", "/servers/sec", { [key]: { OPT: null } });
      expect([status, (await file()).sec.env]).toEqual([200, expect.not.objectContaining({ OPT: expect.anything() })]);
    }
    expect((await ask("PATCH", "/servers/sec", { env: {}, env_vars: {} })).json).toMatchObject({ field: "env_vars" });
  });
});

describe("CF-6 credentials", () => {
  it("an optional secret that is not stored, and a variable without a value, are empty and do not prevent a start", async () => {
    const seen = await Promise.all(["NOVAL", "ABSENT"].map((name) => callText(managed.hub, "sec", "env", { name })));
    expect(seen).toEqual(["", ""]);
  });

  it("a missing secret in a header is an error", async () => {
    const { error } = (await ask("GET", "/servers/remote")).json;
    expect(error).toMatchObject({
      message: "Missing required credentials",
      field: "env.KEY",
      hint: "plugboard secret set none",
    });
  });

  it("storing a missing secret starts the servers that waited for it; a secret in use is deleted only with force", async () => {
    expect((await ask("GET", "/servers/waits")).json).toMatchObject({
      status: "error",
      error: { field: "env.API_KEY" },
    });
    const lacking = { name: "late", server: "waits", variable: "API_KEY" };
    expect((await ask("GET", "/secrets/missing")).json).toContainEqual(lacking);
    const before = Date.now();
    const { json } = await ask("PUT", "/secrets/late", { value: "v" });
    const uses = [{ server: "waits", variable: "API_KEY" }];
    expect(json).toEqual({ name: "late", used_by: ["waits"], uses, set_at: expect.any(String), starting: ["waits"] });
    // File systems round times.
    expect(Date.parse(json.set_at)).toBeGreaterThan(before - 2000);
    expect((await ask("GET", "/secrets/missing")).json).not.toContainEqual(lacking);
    while (managed.hub.supervisor.get("waits").status.state !== "running")
      await once(managed.hub.events, "server.status");
    expect((await ask("PUT", "/secrets/late", { value: "w" })).json.starting).toEqual([]);
    const refused = await ask("DELETE", "/secrets/late");
    expect([refused.status, refused.json]).toMatchObject([
      409,
      { kind: "SecretInUse", message: 'The secret "late" is used by waits' },
    ]);
    expect((await ask("DELETE", "/secrets/late?force=true")).status).toBe(204);
    expect((await ask("DELETE", "/secrets/late")).status).toBe(404);
  });
});

describe("LC-8 enabling", () => {
  it("a server that is enabled and does not start is an error", async () => {
    const { status, json } = await ask("POST", "/servers/nope/enable");
    expect([status, json.kind]).toEqual([404, "PackageNotFound"]);
    expect((await file()).nope.enabled).toBeUndefined();
  });

  it("a server that does not start is disabled again", async () => {
    expect((await ask("POST", "/servers/off/enable")).json.kind).toBe("PackageNotFound");
    expect((await file()).off.enabled).toBe(false);
  });

  it("the command reports the error and exits with a code other than 0", async () => {
    const home = await makeHome({ nope: { command: "/no/such/program" } });
    const { code, stderr } = await plugboard(home, ["enable", "nope"]);
    expect([code, stderr]).toEqual([6, expect.stringContaining("Package not found")]);
    await home.remove();
  });
});

it("MG-5 created_at and updated_at are stored for each server, across restarts of the hub", async () => {
  const times = async (name: string) => {
    const { created_at, updated_at } = (await ask("GET", `/servers/${name}`)).json;
    return { created_at, updated_at };
  };
  const before = { a: await times("a"), b: await times("b") };
  // The times have a resolution of a millisecond.
  while (Date.now() <= Date.parse(before.b.updated_at)) await sleep(1);
  await ask("PATCH", "/servers/b", { description: "x" });
  expect(await times("a")).toEqual(before.a);
  const after = await times("b");
  expect(after.created_at).toBe(before.b.created_at);
  expect(Date.parse(after.updated_at)).toBeGreaterThan(Date.parse(before.b.updated_at));
  // A manual edit and a rename keep the creation time.
  const text = await readFile(join(managed.paths.config, "mcp_server.json"), "utf8");
  await writeFile(join(managed.paths.config, "mcp_server.json"), `${text}\n`);
  await ask("POST", "/config/reload");
  expect([await times("a"), await times("b")]).toEqual([before.a, after]);
  await ask("PATCH", "/servers/b", { name: "c" });
  expect((await times("c")).created_at).toBe(before.b.created_at);
  while (managed.hub.supervisor.get("c").status.state !== "running") await once(managed.hub.events, "server.status");
});
