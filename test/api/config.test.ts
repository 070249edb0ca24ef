// Groups, secrets and the whole config in the management API.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { OWN_SECRET, useOwnHub } from "./own-hub.ts";
import { configText, GROUPS, post, problem, usePlantedHub } from "./planted-hub.ts";

describe("reading and validating", () => {
  const managed = usePlantedHub();

  it("GR-4 lists declared groups, hinted groups and the default group", async () => {
    const { json } = await managed().ask("/groups");
    expect(json.map(({ name, declared }: Record<string, unknown>) => [name, declared])).toEqual(
      expect.arrayContaining([
        ["desk", true],
        ["hinted", false],
        ["default", false],
      ]),
    );
    expect((await managed().ask("/groups/desk")).json).toMatchObject({
      servers: ["echo"],
      tools: ["echo", "add"],
      tool_count: 2,
      name_asker: true,
    });
  });

  it("CF-10 SE-1 the config is shown and exported with references, but without secrets", async () => {
    const { json } = await managed().ask("/config");
    expect(json).toMatchObject({ revision: managed().hub.configuration.revision, demo: false });
    expect(json.config.mcpServers.echo).toMatchObject({
      env: { API_KEY: "***", CODE: { value: "***", isSecret: true }, STORED: { secretRef: "service" } },
    });
    expect(json.config.groups).toEqual(GROUPS);
    const exported = await managed().ask("/config/export");
    expect(exported.json).toEqual(json.config);
    expect(exported.headers["content-disposition"]).toBe('attachment; filename="plugboard.json"');
    expect((await managed().ask("/config/validate", post(exported.json))).json.valid).toBe(true);
  });

  it.each<[string, unknown, boolean, unknown[]]>([
    ["an empty config", {}, true, []],
    ["a valid config", { mcpServers: { a: { command: "x" } }, groups: { g: { servers: ["a"] } } }, true, []],
    ["a config of VS Code", { servers: { a: { command: "x" } } }, true, []],
    [
      "several errors",
      { mcpServers: { a: {}, b: { command: "x", args: "y" }, "c d": { command: "x" } }, groups: { g: { tools: 1 } } },
      false,
      [
        { kind: "InvalidConfig", field: "mcpServers.a.transport" },
        { kind: "InvalidConfig", field: "mcpServers.b.args" },
        { kind: "InvalidConfig", field: "groups.g.tools" },
      ],
    ],
    [
      "CF-7 two servers of one name",
      { mcpServers: { a: { command: "x" }, b: { name: "a", command: "x" } } },
      false,
      [{ kind: "ServerAlreadyExists", code: "CONFLICT" }],
    ],
  ])("validating %s reports its errors and saves nothing", async (_, document, valid, errors) => {
    const before = await configText(managed());
    const { status, json } = await managed().ask("/config/validate", post(document));
    expect([status, json.valid]).toEqual([200, valid]);
    expect(json.errors).toHaveLength(errors.length);
    expect(json.errors).toMatchObject(errors);
    expect(await configText(managed())).toBe(before);
  });

  it("T52 validation warns about access to the host", async () => {
    const document = { mcpServers: { a: { command: "docker", args: ["run", "--privileged", "x"] } } };
    expect((await managed().ask("/config/validate", post(document))).json).toMatchObject({
      valid: true,
      warnings: [expect.stringContaining("--privileged")],
    });
  });
});

describe("changing", () => {
  const open = useOwnHub();

  it("groups are added, changed and removed in group.json", async () => {
    const { ask, paths } = await open({
      a: { command: "a", enabled: false },
      b: { command: "b", enabled: false },
    });
    const made = await ask("/groups/desk", {
      method: "PUT",
      body: { description: "Desk", servers: ["a"], tools: ["x*"] },
    });
    expect(made.json).toMatchObject({
      name: "desk",
      description: "Desk",
      servers: ["a"],
      tools: ["x*"],
      declared: true,
    });
    expect(made.json.path).toBe("/groups/desk/mcp");
    const path = join(paths.config, "group.json");
    expect(JSON.parse(await readFile(path, "utf8"))).toEqual({
      desk: { description: "Desk", servers: ["a"], tools: ["x*"] },
    });
    await ask("/groups/desk", { method: "PUT", body: { name: "desk", description: null, servers: ["a", "b"] } });
    expect((await ask("/groups/desk")).json).toMatchObject({ description: null, servers: ["a", "b"], tools: [] });
    expect((await ask("/groups/desk", { method: "DELETE" })).status).toBe(204);
    expect((await ask("/groups/desk")).json).toEqual(problem(404, "NOT_FOUND", "GroupNotFound"));
    expect((await ask("/groups/default", { method: "DELETE" })).json.kind).toBe("GroupNotFound");
  });

  it.each<[string, string, object, string | undefined]>([
    ["another name in the body", "desk", { name: "other" }, "name"],
    ["an unknown member", "desk", { server: ["a"] }, "server"],
    ["servers that are not a list", "desk", { servers: "a" }, "servers"],
    ["a name with a blank", "a%20b", {}, undefined],
    ["the name __proto__", "__proto__", {}, undefined],
  ])("PUT /groups with %s is refused", async (_, name, body, field) => {
    const { ask } = await open({ a: { command: "a", enabled: false } });
    const { status, json } = await ask(`/groups/${name}`, { method: "PUT", body });
    expect([status, json.code]).toEqual([400, "VALIDATION_ERROR"]);
    if (field !== undefined) expect(json.field).toBe(field);
  });

  it("GR-4 a group that is exported and written back keeps all of its members", async () => {
    const { ask, paths } = await open({ a: { command: "a", enabled: false } });
    const entry = {
      description: "Desk",
      servers: ["a", "later"],
      tools: ["x*"],
      name_asker: false,
      access: ["team:eng"],
    };
    await ask("/groups/desk", { method: "PUT", body: entry });
    const exported = (await ask("/config/export")).json.groups.desk;
    expect(exported).toEqual(entry);
    expect((await ask("/groups/desk")).json).toMatchObject(entry);
    await ask("/groups/desk", { method: "PUT", body: { ...exported, description: "Changed" } });
    expect(JSON.parse(await readFile(join(paths.config, "group.json"), "utf8"))).toEqual({
      desk: { ...entry, description: "Changed" },
    });
  });

  it("SE-1 secrets can be stored and deleted, but never read", async () => {
    const { ask, hub } = await open({
      it: { command: "a", env: { K: { secretRef: "a/b c" } }, enabled: false },
    });
    const stored = await ask("/secrets/a%2Fb%20c", { method: "PUT", body: { value: OWN_SECRET } });
    expect([stored.status, stored.json]).toMatchObject([200, { name: "a/b c", used_by: ["it"], starting: [] }]);
    expect(await hub.secrets.get("a/b c")).toBe(OWN_SECRET);
    expect((await ask("/secrets")).json).toMatchObject([{ name: "a/b c", used_by: ["it"] }]);
    expect((await ask("/secrets/a%2Fb%20c")).status).toBe(405);
    for (const body of [{}, { value: 1 }, { value: `x\0${OWN_SECRET}` }, { value: "a", secret: "b" }]) {
      expect((await ask("/secrets/x", { method: "PUT", body })).json.code).toBe("VALIDATION_ERROR");
    }
    expect((await ask("/secrets/a%2Fb%20c?force=true", { method: "DELETE" })).status).toBe(204);
    expect((await ask("/secrets/a%2Fb%20c", { method: "DELETE" })).json.code).toBe("NOT_FOUND");
    expect((await ask("/secrets")).json).toEqual([]);
  });

  it("CF-9 reload reads the files again, and a broken file changes nothing", async () => {
    const { ask, paths } = await open({ it: { command: "a", enabled: false } });
    const path = join(paths.config, "mcp_server.json");
    await writeFile(path, JSON.stringify({ mcpServers: { other: { command: "b", enabled: false } } }));
    const { json } = await ask("/config/reload", { method: "POST" });
    expect(json).toMatchObject({ added: ["other"], removed: ["it"], description: "added other; removed it" });
    await writeFile(path, '{"mcpServers": {');
    expect((await ask("/config/reload", { method: "POST" })).json).toEqual(
      problem(400, "VALIDATION_ERROR", "InvalidConfig"),
    );
    expect((await ask("/servers")).json.map((each: { config: { name: string } }) => each.config.name)).toEqual([
      "other",
    ]);
  });

  it("T19 names of prototype members are refused or harmless on every route that writes", async () => {
    const { ask } = await open({ it: { command: "a", enabled: false } });
    for (const name of ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf"]) {
      const poison = `{"${name}":{"polluted":true},"command":"a","name":"n-${name.replaceAll("_", "")}","enabled":false}`;
      for (const [method, path, body] of [
        ["POST", "/servers", poison],
        ["POST", "/servers", `{"name":"${name}","command":"a","enabled":false}`],
        ["PUT", "/servers/it", poison.replace(/"name":"[^"]*",/, "")],
        ["PATCH", "/servers/it", `{"env":{"${name}":"x"}}`],
        ["PATCH", "/servers/it", `{"${name}":{"polluted":true}}`],
        ["PATCH", `/servers/${name}`, "{}"],
        ["PUT", `/groups/${name}`, "{}"],
        ["PUT", "/groups/g", `{"${name}":{"polluted":true}}`],
        ["PUT", `/secrets/${name}`, '{"value":"x"}'],
        ["POST", "/config/validate", `{"mcpServers":{"${name}":{"command":"a"}},"groups":{"${name}":{}}}`],
        ["POST", "/servers/it/tools/x/call", `{"arguments":{"${name}":{"polluted":true}}}`],
      ] as const) {
        const { status } = await ask(path, { method, body: Buffer.from(body) });
        expect([method, path, body, status]).not.toEqual([method, path, body, 500]);
      }
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    }
    expect((await ask("/servers")).status).toBe(200);
  });
});
