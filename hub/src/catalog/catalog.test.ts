import { describe, expect, it } from "vitest";
import type { GroupConfig, HubConfig, ServerConfig } from "../config/schema/types.ts";
import { HubError } from "../errors.ts";
import { Catalog } from "./catalog.ts";
import type { ServerListing } from "./listing.ts";

function server(name: string, more: Partial<ServerConfig> = {}): ServerConfig {
  const transport = { type: "http", url: "http://127.0.0.1:1/", headers: {} } as const;
  const base = { id: name, name, enabled: true, source: { type: "manual" }, transport, env: {} } as const;
  return { ...base, timeouts: {}, groups: [], ...more };
}

function group(name: string, servers: string[], tools: string[] = []): GroupConfig {
  return { name, servers, tools };
}

function listed(tools: string[], { prompts = [], available = true }: { prompts?: string[]; available?: boolean } = {}) {
  const definitions = tools.map((name) => ({ name, description: `does ${name}`, inputSchema: { type: "object" } }));
  const listing = { tools: definitions, prompts: prompts.map((name) => ({ name })), resources: [], templates: [] };
  return { listing, available };
}

function build(servers: (string | ServerConfig)[], groups: GroupConfig[], listings: Record<string, ServerListing>) {
  const config: HubConfig = {
    servers: servers.map((item) => (typeof item === "string" ? server(item) : item)),
    groups,
  };
  return Catalog.build(config, new Map(Object.entries(listings)));
}

const exposed = (catalog: Catalog, name?: string): string[] => catalog.group(name).tools.map((tool) => tool.exposed);

function failure(action: () => unknown): Record<string, unknown> {
  try {
    action();
  } catch (error) {
    if (error instanceof HubError) return { ...error.toJSON() };
    throw error;
  }
  throw new Error("did not throw");
}

describe("names from before a group changed between one and several servers", () => {
  const resolved = (catalog: Catalog, name: string) => {
    const found = catalog.group().resolveTool(name);
    return `${found.server}:${found.tool}`;
  };

  it("resolve while they are unambiguous", () => {
    const two = build(["git", "fs"], [], { git: listed(["log", "push"]), fs: listed(["read.all", "log"]) });
    expect(resolved(two, "push")).toBe("git:push");
    const one = build(["fs"], [], { fs: listed(["read.all", "log"]) });
    const hashed = one.group().tools[0]?.exposed ?? "";
    expect(hashed).toMatch(/^read_all--/);
    expect(resolved(two, hashed)).toBe("fs:read.all");
    expect(resolved(one, "fs__log")).toBe("fs:log");
    expect(resolved(one, two.group().tools[2]?.exposed ?? "")).toBe("fs:read.all");
    expect(() => resolved(two, "log")).toThrow("Tool not found");
  });

  it("resolve also while the new server has not been up, or the old one is down", () => {
    const starting = build(["git", "late"], [], { git: listed(["log"]) });
    expect(resolved(starting, "log")).toBe("git:log");
    const down = build(["git", "fs"], [], { git: listed(["log"], { available: false }), fs: listed(["log"]) });
    expect(() => resolved(down, "log")).toThrow("Tool not found");
  });

  it("do not resolve if a member is disabled: the name may be its own", () => {
    const members = [server("git", { enabled: false }), server("fs")];
    const catalog = build(members, [group("default", ["git", "fs"])], { fs: listed(["log"]) });
    expect(() => resolved(catalog, "log")).toThrow("Tool not found");
  });

  it("an unknown name suggests the closest one", () => {
    const catalog = build(["git", "fs"], [], { git: listed(["log"]), fs: listed(["read"]) });
    expect(() => catalog.group().resolveTool("git__lgo")).toThrow(
      expect.objectContaining({ detail: 'Group "default" has no tool "git__lgo"', hint: "Did you mean git__log?" }),
    );
  });
});

it("a non-ASCII tool name is in the title and description", () => {
  const catalog = build(["web"], [], { web: listed(["検索"]) });
  const [tool] = catalog.group().tools;
  expect(tool?.definition).toMatchObject({
    name: tool?.exposed,
    title: "検索",
    description: expect.stringMatching(/^検索/),
  });
});

describe("GR-1 groups and their tools entries", () => {
  const listings = { git: listed(["log", "push"]), fs: listed(["read_file", "log"]) };

  it("an empty tools list means all tools of its servers, in the group's order", () => {
    const catalog = build(["git", "fs"], [group("work", ["fs", "git"])], listings);
    expect(exposed(catalog, "work")).toEqual(["fs__read_file", "fs__log", "git__log", "git__push"]);
  });

  it.each([
    [["log"], ["git__log", "fs__log"]],
    [["git:log"], ["git__log"]],
    [["git:*"], ["git__log", "git__push"]],
    [
      ["*_file", "pu*"],
      ["git__push", "fs__read_file"],
    ],
    [["nothing"], []],
  ])("%j admits %j", (tools, expected) => {
    const catalog = build(["git", "fs"], [group("work", ["git", "fs"], tools)], listings);
    expect(exposed(catalog, "work")).toEqual(expected);
  });

  it("entries filter tools only", () => {
    const catalog = build(["git"], [group("work", ["git"], ["x"])], { git: listed(["log"], { prompts: ["review"] }) });
    expect(catalog.group("work").prompts.map((prompt) => prompt.exposed)).toEqual(["review"]);
  });

  it("an entry that matches nothing causes a warning once all servers are listed", () => {
    const groups = [group("work", ["git", "fs"], ["lgo", "git:*"])];
    expect(build(["git", "fs"], groups, { git: listed(["log"]) }).warnings).toEqual([]);
    expect(build(["git", "fs"], groups, listings).warnings).toEqual([
      'Group "work": the tools entry "lgo" matches no tool',
    ]);
  });

  it("a server's `groups` add it to a group, or create the group", () => {
    const servers = ["git", server("fs", { groups: ["work", "files"] })];
    const catalog = build(servers, [group("work", ["git"])], listings);
    expect(catalog.groupNames).toEqual(["work", "default", "files"]);
    expect(catalog.group("work").servers).toEqual(["git", "fs"]);
    expect(exposed(catalog, "files")).toEqual(["read_file", "log"]);
  });

  it("names like __proto__ are ordinary names", () => {
    const magic = ["__proto__", "constructor", "toString", "hasOwnProperty"];
    const catalog = build(["constructor"], [group("__proto__", ["constructor"])], { constructor: listed(magic) });
    expect(exposed(catalog, "__proto__")).toEqual(magic);
    expect(catalog.group("__proto__").resolveTool("constructor:__proto__").tool).toBe("__proto__");
    expect(failure(() => catalog.group("toString"))).toMatchObject({ kind: "GroupNotFound" });
    expect(failure(() => catalog.group("__proto__").resolveTool("valueOf"))).toMatchObject({ kind: "ToolNotFound" });
  });
});

describe("GR-2 unknown servers", () => {
  it("cause a warning, and the rest works", () => {
    const groups = [group("work", ["gti", "git", "git"]), group("home", ["git"])];
    const catalog = build(["git"], groups, { git: listed(["log"]) });
    expect(catalog.warnings).toEqual(['Group "work" names the unknown server "gti"']);
    expect(catalog.group("work").servers).toEqual(["git"]);
    expect(exposed(catalog, "work")).toEqual(["log"]);
    expect(exposed(catalog, "home")).toEqual(["log"]);
  });

  it("a group that is declared twice uses its first declaration", () => {
    const catalog = build(["git", "fs"], [group("work", ["git"]), group("work", ["fs"])], {});
    expect(catalog.group("work").servers).toEqual(["git"]);
    expect(catalog.warnings).toHaveLength(1);
  });
});

describe("GR-3 listing", () => {
  it("returns the server's own objects, unknown fields included", () => {
    const definition = { name: "log", inputSchema: { type: "object", x: [1] }, annotations: { a: true }, later: null };
    const listing = { tools: [definition], prompts: [], resources: [], templates: [] };
    const catalog = build(["git", "fs"], [], { git: { listing, available: true } });
    expect(JSON.parse(catalog.group().toolsJson.toString())).toEqual([{ ...definition, name: "git__log" }]);
    expect(definition.name).toBe("log");
  });

  it("GR-3 an unknown group is NOT_FOUND; other groups are suggested only to the management API", () => {
    const notFound = {
      code: "NOT_FOUND",
      kind: "GroupNotFound",
      message: "Group not found",
      detail: 'There is no group "nope"',
    };
    const catalog = build([], [], {});
    expect(failure(() => catalog.group("nope"))).toEqual(notFound);
    expect(failure(() => catalog.groupOrSuggest("nope"))).toEqual({ ...notFound, hint: "Groups: default" });
  });

  it("a group without tools lists an empty array", () => {
    expect(build([], [], {}).group().toolsJson.toString()).toBe("[]");
    expect(build([], [group("empty", [])], {}).group("empty").tools).toEqual([]);
  });

  it("a failing server is omitted and the others stay", () => {
    const listings = { git: listed(["log"], { available: false, prompts: ["p"] }), fs: listed(["read"]) };
    const catalog = build(["git", "fs", "late"], [], listings);
    expect(exposed(catalog)).toEqual(["fs__read"]);
    expect(catalog.group().prompts).toEqual([]);
  });

  it("of two entries with one name the first is used", () => {
    const first = { name: "log", description: "first" };
    const listing = {
      tools: [first, { name: "log", description: "second" }],
      prompts: [],
      resources: [],
      templates: [],
    };
    const catalog = build(["git"], [], { git: { listing, available: true } });
    expect(catalog.group().tools.map((tool) => tool.definition)).toEqual([first]);
    expect(catalog.warnings[0]).toMatch(/Server "git" lists 1 entries/);
  });
});

describe("GR-4 the default group", () => {
  const listings = { git: listed(["log"]), fs: listed(["read"]), off: listed(["x"]) };

  it("has every enabled server if it is not declared", () => {
    const catalog = build(["git", "fs", server("off", { enabled: false })], [group("work", ["git"])], listings);
    expect(catalog.group().servers).toEqual(["git", "fs"]);
    expect(exposed(catalog)).toEqual(["git__log", "fs__read"]);
    expect(catalog.group(undefined)).toBe(catalog.group("default"));
  });

  it("is as group.json declares it", () => {
    expect(exposed(build(["git", "fs"], [group("default", ["fs"])], listings))).toEqual(["read"]);
  });

  it("is not reduced by a server's `groups`", () => {
    expect(exposed(build([server("git", { groups: ["default"] }), "fs"], [], listings))).toEqual([
      "git__log",
      "fs__read",
    ]);
  });
});

describe("GR-5 resolving a call", () => {
  const down = listed(["log"], { available: false, prompts: ["review"] });
  const servers = ["git", "fs", "late", server("off", { enabled: false }), "other"];
  const groups = [group("work", ["git", "fs", "late", "off"]), group("some", ["late", "fs"], ["re*", "late:odd.*"])];
  const catalog = build([...servers], groups, {
    git: down,
    fs: listed(["read"], { prompts: ["p"] }),
    off: listed(["x"]),
  });

  it("finds the tool by exposed name and by server:tool", () => {
    const tool = { server: "fs", tool: "read", exposed: "fs__read" };
    expect(catalog.group("work").resolveTool("fs__read")).toMatchObject(tool);
    expect(catalog.group("work").resolveTool("fs:read")).toMatchObject({ ...tool, definition: { name: "fs__read" } });
    expect(catalog.group("work").resolvePrompt("fs:p")).toMatchObject({ server: "fs", prompt: "p", exposed: "fs__p" });
  });

  it.each([
    "nope",
    "fs__nope",
    "fs:nope",
    "other:x",
    "other__x",
    "read",
    "",
    "fs:",
    "__proto__",
    "git__other",
    ":",
    "late",
  ])("%j is not found", (name) => {
    expect(failure(() => catalog.group("work").resolveTool(name))).toMatchObject({
      code: "NOT_FOUND",
      kind: "ToolNotFound",
      message: "Tool not found",
      detail: `Group "work" has no tool ${JSON.stringify(name)}`,
    });
  });

  it("a bare name is not guessed; the error suggests the full names", () => {
    expect(failure(() => catalog.group("work").resolveTool("read"))["hint"]).toBe("Call it as fs__read");
  });

  it.each([
    ["git__log", "git", "log"],
    ["git:log", "git", "log"],
    ["late__anything", "late", "anything"],
    ["late:any.thing", "late", "any.thing"],
    ["off__x", "off", "x"],
  ])(
    "RS-4 %s of a server that is not running is %s's %s: the call fails there, and is recorded",
    (name, owner, tool) => {
      expect(catalog.group("work").resolveTool(name)).toMatchObject({ server: owner, tool });
    },
  );

  it("a hashed name of a server that is not running fails with «Server unavailable»", () => {
    expect(failure(() => catalog.group("work").resolveTool("late__any_thing--abcdefgh"))).toEqual({
      code: "SERVICE_UNAVAILABLE",
      kind: "ServerNotRunning",
      message: "Server unavailable",
      detail: 'Server "late" is not running',
    });
  });

  it("an excluded tool is not found, also if its server is not running", () => {
    const some = catalog.group("some");
    expect(some.resolveTool("late__read")).toMatchObject({ server: "late", tool: "read" });
    expect(some.resolveTool("late:odd.one")).toMatchObject({ server: "late", tool: "odd.one" });
    expect(failure(() => some.resolveTool("late__write"))).toMatchObject({ kind: "ToolNotFound" });
    expect(failure(() => some.resolveTool("late:write"))).toMatchObject({ kind: "ToolNotFound" });
  });

  it("prompts follow the same rules", () => {
    const work = catalog.group("work");
    expect(work.resolvePrompt("git__review")).toMatchObject({ server: "git", prompt: "review" });
    expect(work.resolvePrompt("late__p")).toMatchObject({ server: "late", prompt: "p" });
    expect(failure(() => work.resolvePrompt("x"))).toMatchObject({ kind: "ToolNotFound", message: "Prompt not found" });
  });

  it("a hostile name is cut and escaped in the error", () => {
    const detail = String(failure(() => catalog.group("work").resolveTool(`\n${"x".repeat(100_000)}`))["detail"]);
    expect(detail.length).toBeLessThan(200);
    expect(detail).not.toContain("\n");
  });
});

describe("GR-6 and T28 names", () => {
  it.each([
    ["two servers with one tool", { a: ["search"], b: ["search"] }],
    ["a + b__c and a__b + c", { a: ["b__c"], a__b: ["c"] }],
    ["a + _b and a_ + b", { a: ["_b"], a_: ["b"] }],
    ["case variants", { a: ["search", "Search", "SEARCH"], A: ["search"] }],
    ["cleaned to the same", { a: ["x.y", "x/y", "x:y", "x y"], b: ["x.y"] }],
    ["cut to the same", { a: ["x".repeat(300), "x".repeat(301), "x".repeat(62)], b: [] }],
    ["long servers", { ["s".repeat(64)]: ["t"], [`${"s".repeat(63)}r`]: ["t"] }],
  ])("%s: unique, valid, and each resolves to its tool", (_, tools: Record<string, string[]>) => {
    const names = Object.keys(tools);
    const catalog = build(names, [], Object.fromEntries(names.map((name) => [name, listed(tools[name] ?? [])])));
    const all = catalog.group().tools;
    expect(new Set(all.map((tool) => tool.exposed)).size).toBe(Object.values(tools).flat().length);
    for (const tool of all) {
      expect(tool.exposed).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect(catalog.group().resolveTool(tool.exposed)).toEqual(tool);
      expect(catalog.group().resolveTool(`${tool.server}:${tool.tool}`)).toEqual(tool);
    }
  });

  it("adding a third server renames nothing, nor does stopping, starting or disabling one", () => {
    const listings = { a: listed(["x"]), b: listed(["x"]), c: listed(["x"]) };
    const two = exposed(build(["a", "b"], [], listings));
    expect(exposed(build(["c", "a", "b"], [], listings)).slice(1)).toEqual(two);
    expect(exposed(build(["a", "b"], [], { a: listings.a }))).toEqual(["a__x"]);
    expect(exposed(build(["a", server("b", { enabled: false })], [], listings))).toEqual(["a__x"]);
    const declared = [group("work", ["a", "b"])];
    expect(exposed(build(["a", server("b", { enabled: false })], declared, listings), "work")).toEqual(["a__x"]);
  });

  it("a shorter name limit is respected, and one that is too short is refused", () => {
    const config = { servers: [server("a"), server("b")], groups: [] };
    const listings = new Map([["a", listed(["x".repeat(38), "y"])]]);
    const [long, short] = Catalog.build(config, listings, { maxNameLength: 40 }).group().tools;
    expect(long?.exposed).toMatch(/^a__x{27}--[a-z2-7]{8}$/);
    expect(short?.exposed).toBe("a__y");
    for (const maxNameLength of [39, 0, -1, Number.NaN]) {
      expect(failure(() => Catalog.build(config, listings, { maxNameLength }))).toMatchObject({
        field: "maxNameLength",
      });
    }
  });
});

describe("GR-8 what changed", () => {
  const before = build(["a", "b"], [], { a: listed(["x"], { prompts: ["p"] }), b: listed(["y"]) }).group();

  it.each([
    ["nothing", { a: listed(["x"], { prompts: ["p"] }), b: listed(["y"]) }, { tools: false, prompts: false }],
    ["one server down", { a: listed(["x"], { prompts: ["p"] }) }, { tools: true, prompts: false }],
    ["a prompt gone", { a: listed(["x"]), b: listed(["y"]) }, { tools: false, prompts: true }],
    ["nothing offered", { a: listed(["x"], { prompts: ["p"] }), b: listed(["y"]), c: listed(["z"]) }, { tools: false }],
  ])("%s", (_, listings: Record<string, ServerListing>, expected) => {
    expect(build(["a", "b"], [], listings).group().differs(before)).toMatchObject({ ...expected, resources: false });
  });
});

describe("size", () => {
  it("200 servers with 10,000 tools", () => {
    const names = Array.from({ length: 200 }, (_, index) => `server-${index}`);
    const tools = Array.from({ length: 50 }, (_, index) =>
      index % 10 === 0 ? `do.thing.${index}` : `do_thing_${index}`,
    );
    const listings = Object.fromEntries(names.map((name) => [name, listed(tools)]));
    const start = performance.now();
    const catalog = build(names, [group("all", names, ["do*"])], listings);
    const built = performance.now();
    const bytes = catalog.group().toolsJson.length;
    const written = performance.now();
    process.stderr.write(
      `catalog of 2 groups × 10,000 tools: ${Math.round(built - start)} ms; ` +
        `${Math.round(bytes / 1024)} KiB of JSON: ${Math.round(written - built)} ms\n`,
    );
    expect(catalog.group("all").tools).toHaveLength(10_000);
  });
});

describe("one server alone", () => {
  const tools = ["plain", "with.dot", "it:plain", "größe", "x".repeat(100), "_a__b"];
  const catalog = () => build(["it", "other"], [group("default", ["other"])], { it: listed(tools) });
  const alone = () => catalog().server("it");

  it("GR-5 has its own names, whatever they contain and whatever the groups say", () => {
    expect(alone().tools.map((tool) => tool.exposed)).toEqual(tools);
    for (const name of tools) expect(alone().resolveTool(name)).toMatchObject({ server: "it", tool: name });
    expect(() => alone().resolveTool("it__plain")).toThrow("Tool not found");
  });

  it("is built once for each snapshot, and only for a configured server", () => {
    const snapshot = catalog();
    expect(snapshot.server("it")).toBe(snapshot.server("it"));
    expect(failure(() => snapshot.server("none"))).toMatchObject({ kind: "ServerNotFound" });
  });
});
