// Adding a server of a registry through the API and the command: what is saved, where secrets are, and that nothing is saved if a value is
// missing.

import { readdir, readFile } from "node:fs/promises";
import type { LookupFunction } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { openManaged, type ManagedHub } from "../support/api.ts";
import { openHome } from "../support/cli.ts";
import { plugboard } from "../support/hub.ts";
import { noTerminal, onTerminal } from "../support/terminal.ts";

const SECRET = "planted-secret-value";

describe("RG-1 over the API", () => {
  let managed: ManagedHub;
  const post = (body: unknown) => managed.ask("/registry/servers", { method: "POST", body });
  const config = () => readFile(join(managed.home.dir, "config/mcp_server.json"), "utf8").catch(() => "");

  beforeAll(async () => {
    managed = await openManaged(undefined);
  });
  afterAll(async () => {
    expect(await managed.end()).toEqual([]);
  });
  beforeEach(async () => {
    for (const name of await managed.hub.secrets.list()) await managed.hub.secrets.delete(name);
  });

  it("RG-1 SE-1 the value of a secret is in the store, and not in the config or an answer", async () => {
    const body = {
      name: "tavily",
      registry: "curated",
      values: { TAVILY_API_KEY: SECRET },
      enabled: false,
      groups: ["work"],
    };
    const { status, json } = await post(body);
    expect(status).toBe(201);
    expect(json).toMatchObject({
      registry: "curated",
      secrets: ["tavily-TAVILY_API_KEY"],
      server: { status: "disabled", secret_refs: { TAVILY_API_KEY: "tavily-TAVILY_API_KEY" } },
    });
    expect(json.server.config).toMatchObject({ source: { registry: "curated", name: "tavily" }, groups: ["work"] });
    expect(await managed.hub.secrets.get("tavily-TAVILY_API_KEY")).toBe(SECRET);
    expect(await config()).not.toContain(SECRET);
    expect(JSON.stringify(managed.seen)).not.toContain(SECRET);
    const { json: found } = await managed.ask("/registry/servers?registry=curated&q=tavily");
    expect(found.servers[0]).toMatchObject({ name: "tavily", added_as: ["tavily"] });
  });

  it("RG-1 a stored secret is referred to", async () => {
    await managed.hub.secrets.set("my-brave-key", SECRET);
    const { status, json } = await post({
      name: "brave-search",
      registry: "curated",
      values: { BRAVE_API_KEY: { secret_ref: "my-brave-key" } },
      as: "search",
      enabled: false,
    });
    expect([status, json.secrets, json.server.secret_refs]).toEqual([201, [], { BRAVE_API_KEY: "my-brave-key" }]);
  });

  it.each([
    ["MC-NT4 a required value is missing", { name: "mysql", values: { MYSQL_PASS: SECRET } }, "values.MYSQL_USER"],
    [
      "MC-NT4 a stored secret that does not exist",
      { name: "exa", values: { EXA_API_KEY: { secret_ref: "none" } } },
      "env.EXA_API_KEY",
    ],
    ["an unknown input", { name: "exa", values: { EXA_API_KEY: SECRET, typo: "x" } }, "values.typo"],
    ["a value of another type", { name: "exa", values: { EXA_API_KEY: 7 } }, "values.EXA_API_KEY"],
    ["a name that is no name", { name: "exa", values: { EXA_API_KEY: SECRET }, as: "a b" }, "name"],
    ["a version that moves", { name: "exa", version: "latest", values: { EXA_API_KEY: SECRET } }, "version"],
    ["a package that it does not have", { name: "exa", package: "oci", values: { EXA_API_KEY: SECRET } }, "package"],
    ["an unknown registry", { name: "exa", registry: "nowhere", values: {} }, "registry"],
  ])("RG-1 %s: a VALIDATION_ERROR, and nothing is saved", async (_what, body, field) => {
    const before = await config();
    const { status, json } = await post({ registry: "curated", ...body });
    expect([status, json.code, json.field]).toEqual([400, "VALIDATION_ERROR", field]);
    expect(await config()).toBe(before);
    expect(await managed.hub.secrets.list()).toEqual([]);
  });

  it("RG-1 a name that is taken: CONFLICT, and no secret stays", async () => {
    const body = { name: "tavily", registry: "curated", values: { TAVILY_API_KEY: SECRET } };
    expect(await post(body)).toMatchObject({ status: 409 });
    expect(await managed.hub.secrets.list()).toEqual([]);
  });

  it("RG-1 an address whose name leads into the network is refused", async () => {
    const lookup: LookupFunction = (_host, _options, callback) => callback(null, [{ address: "10.0.0.5", family: 4 }]);
    const inside = await openManaged(undefined, { lookup });
    const body = { name: "linear", registry: "curated" };
    const refused = await inside.ask("/registry/servers", { method: "POST", body });
    expect(refused.json).toMatchObject({
      kind: "UnsafeAddress",
      message: "mcp.linear.app leads to 10.0.0.5, which is not a public address",
    });
    expect((await inside.ask("/servers")).json).not.toContainEqual(
      expect.objectContaining({ config: expect.objectContaining({ name: "linear" }) }),
    );
    expect(await inside.end()).toEqual([]);
  });
});

describe("RG-1 by the command", () => {
  it("RG-1 MC-NT4 without a required input: exit 2, and neither config nor secret is written", async (test) => {
    const home = await openHome(test);
    const { code, stderr } = await plugboard(home, [
      "add",
      "registry:mysql",
      "--registry",
      "curated",
      "--set",
      "MYSQL_PASS=x",
    ]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/Missing required credentials: MYSQL_USER, MYSQL_DB/);
    expect(await readdir(join(home.dir, "config"))).not.toContain("mcp_server.json");
    expect(await readdir(join(home.dir, "data/secrets")).catch(() => [])).toEqual([]);
  });

  it("RG-1 a path is made absolute, and --json has everything", async (test) => {
    const home = await openHome(test);
    const { code, stdout } = await plugboard(home, [
      "add",
      "registry:filesystem",
      "files",
      "--registry=curated",
      "--set=folders=docs,/srv",
      "--disabled",
      "--json",
    ]);
    expect(code).toBe(0);
    const added = JSON.parse(stdout);
    expect(added.server.config.args.slice(-2)).toEqual([join(process.cwd(), "docs"), "/srv"]);
    expect(added).toMatchObject({ registry: "curated", server: { config: { name: "files", enabled: false } } });
  });

  it.skipIf(noTerminal !== undefined)(
    `RG-1 asks for required inputs, for secrets without echo${noTerminal ?? ""}`,
    async (test) => {
      const home = await openHome(test);
      const args = ["add", "registry:mysql", "--registry", "curated", "--disabled"];
      const { code, screen } = await onTerminal(home, args, {
        type: [
          { after: /MYSQL_USER: /, keys: "ann\r" },
          { after: /MYSQL_PASS: /, keys: `${SECRET}\r` },
          { after: /MYSQL_DB: /, keys: "shop\r" },
        ],
      });
      expect([code, screen]).toEqual([0, expect.stringContaining("Added mysql")]);
      expect(screen).not.toContain(SECRET);
      const text = await readFile(join(home.dir, "config/mcp_server.json"), "utf8");
      expect(JSON.parse(text).mcpServers.mysql.env).toMatchObject({
        MYSQL_USER: "ann",
        MYSQL_PASS: { secretRef: "mysql-MYSQL_PASS" },
        MYSQL_PORT: "3306",
      });
    },
  );

  it.each([
    [["add", "registry:"], /does not name a server/],
    [["add", "registry:time", "-e", "A=b"], /-e is not for a server of a registry/],
    [["add", "time", "--set", "A=b"], /--set is for a server of a registry/],
    [["add", "registry:time", "--set", "A"], /--set needs NAME=VALUE/],
    [["info", "--registry", "nope", "time"], /no registry "nope"/],
  ])("RG-1 %j says what is wrong", async (args, message) => {
    const home = await openHome({ onTestFinished });
    const { code, stderr } = await plugboard(home, args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  });
});
