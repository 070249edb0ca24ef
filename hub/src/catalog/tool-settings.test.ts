import { describe, expect, it } from "vitest";
import { refusedArgument, withFixedArguments } from "../calls/fixed-arguments.ts";
import { normalizeGroup } from "../config/parse/normalize.ts";
import type { ServerConfig } from "../config/schema/types.ts";
import type { JsonObject } from "../lib/json/json.ts";
import { rawParams } from "../protocol/rpc/jsonrpc.ts";
import { Catalog } from "./catalog.ts";
import type { Group } from "./group.ts";

const CREATE: JsonObject = {
  name: "create_issue",
  description: "Creates",
  inputSchema: {
    type: "object",
    properties: {
      repo: { type: "string" },
      title: { type: "string" },
      labels: { type: "array", items: { type: "string" } },
    },
    required: ["repo", "title"],
    anyOf: [{ required: ["repo"] }, { required: ["labels"] }],
    dependentRequired: { labels: ["repo"] },
    additionalProperties: false,
  },
};
const plain = (name: string): JsonObject => ({ name, description: name, inputSchema: { type: "object" } });

function server(name: string): ServerConfig {
  const transport = { type: "http", url: "http://127.0.0.1:1/", headers: {} } as const;
  const base = { id: name, name, enabled: true, source: { type: "manual" }, transport, env: {} } as const;
  return { ...base, timeouts: {}, groups: [] };
}

/** Undefined: not listed yet. */
type Offered = Readonly<Record<string, readonly JsonObject[] | undefined>>;

function build(tools: unknown, offered: Offered = { github: [CREATE, plain("search")], files: [plain("read")] }) {
  const servers = Object.keys(offered);
  const config = { servers: servers.map(server), groups: [normalizeGroup("work", { servers, tools })] };
  const listings = Object.entries(offered).flatMap(([name, listed]) =>
    listed === undefined
      ? []
      : [[name, { listing: { tools: listed, prompts: [], resources: [], templates: [] }, available: true }] as const],
  );
  return Catalog.build(config, new Map(listings));
}

const names = (group: Group) => group.tools.map(({ exposed }) => exposed);
const resolved = (group: Group, name: string) => {
  const { server: owner, tool } = group.resolveTool(name);
  return `${owner}:${tool}`;
};

describe("the name that a group gives to a tool", () => {
  const tools = { "github:create_issue": { as: "file_bug" }, "*": {} };

  it("RG-4 is the whole name, and the other tools keep theirs", () => {
    const group = build(tools).group("work");
    expect(names(group)).toEqual(["file_bug", "github__search", "files__read"]);
    expect(group.tools[0]?.definition).toMatchObject({ name: "file_bug", description: "Creates" });
  });

  it.each(["file_bug", "github:create_issue", "github__create_issue", "create_issue"])(
    "RG-4 %s calls the tool: clients may still have the names of before",
    (name) => expect(resolved(build(tools).group("work"), name)).toBe("github:create_issue"),
  );

  it("RG-4 belongs to that tool even if another one has it: that one gets a hash, before and after it is listed", () => {
    const clash = { "github:create_issue": { as: "files__read" }, "*": {} };
    const group = build(clash).group("work");
    expect(names(group)).toEqual(["files__read", "github__search", expect.stringMatching(/^files__read--\w{8}$/)]);
    expect(resolved(group, "files__read")).toBe("github:create_issue");
    expect(resolved(group, names(group)[2] ?? "")).toBe("files:read");
    const one = build({ "a:x": { as: "y" }, "*": {} }, { a: [plain("y"), plain("x")] }).group("work");
    expect(names(one)).toEqual([expect.stringMatching(/^y--\w{8}$/), "y"]);
    expect(resolved(one, "y")).toBe("a:x");
  });

  it("RG-4 is known before its server has listed its tools", () => {
    const fixed = { "github:create_issue": { as: "file_bug", arguments: { repo: { const: "acme/app" } } } };
    const group = build(fixed, { github: undefined, files: [] }).group("work");
    const target = group.resolveTool("file_bug");
    expect(target).toMatchObject({ server: "github", tool: "create_issue" });
    expect(target.override?.fixed).toEqual(new Map([["repo", "acme/app"]]));
  });

  it("RG-4 is what a search finds", () => {
    const group = build(tools).group("work");
    expect(group.index.search("file bug", 3).tools[0]?.exposed).toBe("file_bug");
  });
});

describe("arguments", () => {
  const settings = { arguments: { repo: { const: "acme/app" }, labels: { hidden: true } } };
  const group = build({ "github:create_issue": settings, "*": {} }).group("work");
  const target = group.resolveTool("github__create_issue");

  it("RG-4 that are fixed or hidden are not in the schema that clients see", () => {
    expect(target.definition["inputSchema"]).toEqual({
      type: "object",
      properties: { title: { type: "string" } },
      required: ["title"],
      anyOf: [{ required: [] }, { required: [] }],
      dependentRequired: {},
      additionalProperties: false,
    });
    expect(target.override?.definition).toBe(CREATE);
  });

  it("RG-4 of tools without settings, and their definitions, are the server's own", () => {
    const other = build({ "github:create_issue": settings, "*": {} }, { github: [CREATE, plain("search")] });
    const [, search] = other.group("work").tools;
    expect(search?.override).toBeUndefined();
    const untouched = build(["*"], { github: [CREATE] }).group("work").tools[0];
    expect(untouched?.definition).toBe(CREATE);
  });

  it.each([
    ['{"name":"x","arguments":{"title":"a","n":1e400}}', '{"title":"a","n":1e400,"repo":"acme/app"}'],
    ['{"name":"x"}', '{"repo":"acme/app"}'],
    ['{"name":"x","arguments":{"repo":"acme/app"}}', '{"repo":"acme/app"}'],
    ['{"name":"x","arguments":null}', '{"repo":"acme/app"}'],
  ])("RG-4 that are fixed are put into %s, and all other bytes stay", (json, expected) => {
    const params = rawParams(JSON.parse(json) as JsonObject, Buffer.from(json));
    const { override } = target;
    if (override === undefined) throw new Error("no override");
    expect(refusedArgument(override, params)).toBeUndefined();
    const sent = withFixedArguments(override, params);
    expect(sent?.bytes.toString()).toContain(`"arguments":${expected}`);
    expect(sent?.value["arguments"]).toMatchObject({ repo: "acme/app" });
  });

  it.each([
    [{ repo: "other/app" }, 'The argument "repo" is fixed by the group'],
    [{ labels: [] }, 'The argument "labels" is hidden by the group'],
    [{ repo: null }, 'The argument "repo" is fixed by the group'],
  ])("RG-4 %j is refused", (args, message) => {
    const { override } = target;
    if (override === undefined) throw new Error("no override");
    expect(refusedArgument(override, rawParams({ name: "x", arguments: args }))?.message).toBe(message);
  });

  it("RG-4 may be set for all tools of a pattern; the more exact pattern counts", () => {
    const both = build({
      "github:*": { arguments: { repo: { const: "acme/app" }, labels: { hidden: true } } },
      "github:create_issue": { arguments: { repo: { const: "acme/web" } } },
    }).group("work");
    const { override } = both.resolveTool("github__create_issue");
    expect(override?.fixed).toEqual(new Map([["repo", "acme/web"]]));
    expect(override?.hidden).toEqual(new Set(["repo", "labels"]));
  });

  it("RG-4 that are required and have no value stay visible, with a warning", () => {
    const catalog = build({ "github:create_issue": { arguments: { title: { hidden: true } } } }, { github: [CREATE] });
    expect(catalog.group("work").resolveTool("create_issue").definition).toBe(CREATE);
    expect(catalog.warnings).toEqual([
      'Group "work": The settings of "github:create_issue": "title" is required, so it can only be hidden with a value: "const"',
    ]);
  });

  it.each([
    [{ repos: { const: "a" } }, 'it has no argument "repos" (its arguments: repo, title, labels)'],
    [{ repo: { const: 7 } }, 'the value of "repo" does not fit its schema'],
  ])("RG-4 %j is warned about", (args, warning) => {
    const { warnings } = build({ "github:create_issue": { arguments: args } }, { github: [CREATE] });
    expect(warnings).toEqual([expect.stringContaining(warning)]);
  });
});
