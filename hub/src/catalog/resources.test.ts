import { describe, expect, it } from "vitest";
import type { ServerConfig } from "../config/schema/types.ts";
import { HubError } from "../errors.ts";
import { Catalog } from "./catalog.ts";
import type { Group } from "./group.ts";
import type { JsonObject } from "../lib/json/json.ts";
import { exposedUri } from "./uris.ts";

interface Offer {
  readonly uris?: readonly string[];
  readonly templates?: readonly string[];
  readonly tools?: readonly JsonObject[];
  /** null: the server has never run. */
  readonly available?: boolean | null;
}

function build(offers: Record<string, Offer>): Group {
  const servers = Object.keys(offers).map((name): ServerConfig => {
    const transport = { type: "http", url: "http://127.0.0.1:1/", headers: {} } as const;
    return { id: name, name, enabled: true, source: { type: "manual" }, transport, env: {}, timeouts: {}, groups: [] };
  });
  const listings = new Map(
    Object.entries(offers)
      .filter(([, { available }]) => available !== null)
      .map(([name, { uris = [], templates = [], tools = [], available }]) => {
        const resources = uris.map((uri) => ({ uri, name: uri, by: name }));
        const listing = { tools, prompts: [], resources, templates: templates.map((uriTemplate) => ({ uriTemplate })) };
        return [name, { listing, available: available !== false }];
      }),
  );
  return Catalog.build({ servers, groups: [] }, listings).group();
}

function kindOf(action: () => unknown): string {
  try {
    return JSON.stringify(action());
  } catch (error) {
    if (error instanceof HubError) return `${error.kind}: ${error.message}`;
    throw error;
  }
}

describe("resource URIs", () => {
  it("stay unchanged if no two servers share one", () => {
    const group = build({ a: { uris: ["file:///1"], templates: ["t://{x}"] }, b: { uris: ["file:///2"] } });
    expect(JSON.parse(group.resourcesJson.toString())).toEqual([
      { uri: "file:///1", name: "file:///1", by: "a" },
      { uri: "file:///2", name: "file:///2", by: "b" },
    ]);
    expect(JSON.parse(group.templatesJson.toString())).toEqual([{ uriTemplate: "t://{x}" }]);
    expect(group.rewrittenUris("a").size + group.rewrittenUris("b").size).toBe(0);
    expect(group.resolveResource("file:///2")).toEqual({ server: "b", uri: "file:///2" });
  });

  it("the first server keeps a shared one, the others get a prefix, and each resolves to its server", () => {
    const group = build({
      a: { uris: ["u://1"], templates: ["t://{x}"] },
      b: { uris: ["u://1"], templates: ["t://{x}"] },
    });
    expect(group.resources.map(({ exposed, definition }) => [exposed, definition["uri"]])).toEqual([
      ["u://1", "u://1"],
      ["plugboard://b/u://1", "plugboard://b/u://1"],
    ]);
    expect(group.templates.map(({ exposed }) => exposed)).toEqual(["t://{x}", "plugboard://b/t://{x}"]);
    expect([...group.rewrittenUris("b")]).toEqual([
      ["u://1", "plugboard://b/u://1"],
      ["t://{x}", "plugboard://b/t://{x}"],
    ]);
    expect(group.resolveResource("u://1")).toEqual({ server: "a", uri: "u://1" });
    expect(group.resolveResource("plugboard://b/u://1")).toEqual({ server: "b", uri: "u://1" });
    expect(group.resolveResource("plugboard://b/t://5")).toEqual({ server: "b", uri: "t://5" });
    expect(group.resolveTemplate("t://{x}")).toEqual({ server: "a", uriTemplate: "t://{x}" });
    expect(group.resolveTemplate("plugboard://b/t://{x}")).toEqual({ server: "b", uriTemplate: "t://{x}" });
  });

  it("a server that is down keeps its URIs, so that nothing is renamed or rerouted", () => {
    const group = build({ a: { uris: ["u://1"], templates: ["t://{x}"], available: false }, b: { uris: ["u://1"] } });
    expect(group.resources.map(({ exposed }) => exposed)).toEqual(["plugboard://b/u://1"]);
    expect(kindOf(() => group.resolveResource("u://1"))).toBe("ServerNotRunning: Server unavailable");
    expect(kindOf(() => group.resolveResource("t://1"))).toBe("ServerNotRunning: Server unavailable");
    expect(kindOf(() => group.resolveTemplate("t://{x}"))).toBe("ServerNotRunning: Server unavailable");
  });

  it("T28 a server cannot shadow another one with plugboard:// URIs", () => {
    const forged = "plugboard://b/u://1";
    const group = build({ a: { uris: [forged], templates: ["plugboard://b/{+x}"] }, b: { uris: ["u://1"] } });
    expect(group.resources.map(({ exposed }) => exposed)).toEqual([`plugboard://a/${forged}`, "u://1"]);
    expect(group.resolveResource(forged)).toEqual({ server: "b", uri: "u://1" });
    expect(group.resolveResource("plugboard://b/other")).toEqual({ server: "b", uri: "other" });
    expect(group.resolveResource(`plugboard://a/${forged}`)).toEqual({ server: "a", uri: forged });
  });
});

describe("resolving a resource", () => {
  it.each([
    ["u://listed", { server: "b", uri: "u://listed" }],
    ["u://other", { server: "a", uri: "u://other" }],
    ["t://1", { server: "a", uri: "t://1" }],
    ["plugboard://b/anything", { server: "b", uri: "anything" }],
  ])("%s by list, then by template in order: %j", (uri, expected) => {
    const group = build({
      a: { templates: ["u://{x}", "t://{x}"] },
      b: { uris: ["u://listed"], templates: ["t://{y}"] },
    });
    expect(group.resolveResource(uri)).toEqual(expected);
  });

  it("an unlisted URI goes to the only server with resources", () => {
    const group = build({ a: { uris: ["u://1"] }, b: {} });
    expect(group.resolveResource("x://unlisted")).toEqual({ server: "a", uri: "x://unlisted" });
  });

  it.each<[string, Record<string, Offer>, string]>([
    ["two could be meant", { a: { uris: ["u://1"] }, b: { uris: ["u://2"] } }, "ToolNotFound: Resource not found"],
    ["nobody has resources", { a: {}, b: {} }, "ToolNotFound: Resource not found"],
    ["the only one is down", { a: { uris: ["u://1"], available: false }, b: {} }, "ToolNotFound: Resource not found"],
    ["the only member is down", { a: { uris: [], available: false } }, "ServerNotRunning: Server unavailable"],
    ["the only member was never up", { a: { available: null } }, "ServerNotRunning: Server unavailable"],
  ])("an unlisted URI where %s", (_, offers, expected) => {
    expect(kindOf(() => build(offers).resolveResource("x://unlisted"))).toBe(expected);
  });

  it("an unknown template is not found", () => {
    const group = build({ a: { templates: ["t://{x}"] }, b: {} });
    expect(kindOf(() => group.resolveTemplate("t://{y}"))).toBe("ToolNotFound: Resource template not found");
    expect(kindOf(() => group.resolveTemplate("plugboard://nobody/t"))).toBe(
      "ToolNotFound: Resource template not found",
    );
  });
});

describe("MCP Apps pages", () => {
  const page = "ui://app";
  const tool = {
    name: "show",
    _meta: { ui: { resourceUri: page, visibility: ["app"] }, "ui/resourceUri": page, own: 1 },
  };

  it("are rewritten with their resource", () => {
    const group = build({ a: { uris: [page], tools: [tool] }, b: { uris: [page], tools: [tool] } });
    expect(group.tools.map(({ definition }) => definition)).toEqual([
      { ...tool, name: "a__show" },
      {
        name: "b__show",
        _meta: {
          ui: { resourceUri: "plugboard://b/ui://app", visibility: ["app"] },
          "ui/resourceUri": "plugboard://b/ui://app",
          own: 1,
        },
      },
    ]);
  });

  it("resolve to the tool's own server although it does not list them", () => {
    const group = build({ a: { uris: [page] }, b: { tools: [tool], uris: ["u://1"] }, c: { tools: [tool] } });
    expect(group.resolveTool("b:show").definition).toMatchObject({
      _meta: { ui: { resourceUri: "plugboard://b/ui://app" } },
    });
    expect(group.resolveResource("plugboard://c/ui://app")).toEqual({ server: "c", uri: page });
    expect(group.resources.map(({ exposed }) => exposed)).toEqual([page, "u://1"]);
  });
});

describe("rewriting results", () => {
  const mapping = new Map([
    ["u://1", "plugboard://b/u://1"],
    ["t://{x}", "plugboard://b/t://{x}"],
  ]);

  it.each([
    ["u://1", "plugboard://b/u://1"],
    ["t://5", "plugboard://b/t://5"],
    ["u://2", "u://2"],
  ])("%s is exposed as %s", (uri, expected) => {
    expect(exposedUri(uri, mapping)).toBe(expected);
  });
});
