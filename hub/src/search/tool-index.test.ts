import { describe, expect, it } from "vitest";
import { ToolIndex } from "./tool-index.ts";

function tool(exposed: string, description: string, parameters: readonly string[] = [], server = "s") {
  const properties = Object.fromEntries(parameters.map((name) => [name, { type: "string" }]));
  return { server, exposed, definition: { name: exposed, description, inputSchema: { type: "object", properties } } };
}

const TOOLS = [
  tool("create_issue", "Create a new issue in a repository", ["repo", "title", "body"], "github"),
  tool("listIssues", "List the issues of a repository", ["repo", "state"], "github"),
  tool("create_page", "Create a page in a workspace", ["title"], "notion"),
  tool("resize_image", "Scale a picture to a width", ["path", "width"], "images"),
  tool("get_weather", "The forecast for a city", ["city"], "weather"),
  tool("bing_search", "使用必应搜索指定的关键词，并返回搜索结果列表", ["query"], "bing"),
];
const index = new ToolIndex(TOOLS);
const found = (query: string) => index.search(query, 3).tools.map(({ exposed }) => exposed);

describe("RG-3 the index of tools", () => {
  it.each([
    ["the words of a name", "create issue", "create_issue"],
    ["camelCase and plurals", "list an issue", "listIssues"],
    ["a word of the description only", "pages of the workspace", "create_page"],
    ["a parameter", "width", "resize_image"],
    ["the server's name", "github create", "create_issue"],
    ["another word for the same thing", "photo", "resize_image"],
    ["verb forms", "resizing images", "resize_image"],
    ["Chinese", "搜索结果", "bing_search"],
  ])("finds a tool by %s", (_, query, best) => {
    expect(found(query)[0]).toBe(best);
  });

  it("finds nothing if a short query has a word that no tool mentions, and says which", () => {
    expect(index.search("gmail create", 3)).toEqual({ tools: [], unknown: ["gmail"] });
  });

  it("goes on with the known words of a longer query", () => {
    const { tools, unknown } = index.search("create an issue about the flux capacitor in my repository", 3);
    expect(tools[0]?.exposed).toBe("create_issue");
    expect(unknown).toEqual(["flux", "capacitor"]);
  });

  it("searches only the tools that are admitted", () => {
    const { tools } = index.search("create", 3, ({ server }) => server === "notion");
    expect(tools.map(({ exposed }) => exposed)).toEqual(["create_page"]);
  });

  it.each([[""], ["the of a"], ["!!!"]])("finds nothing for %j", (query) => {
    expect(index.search(query, 3)).toEqual({ tools: [], unknown: [] });
  });

  it("survives tools with strange definitions", () => {
    const odd = { server: "s", exposed: "x", definition: { name: "x", description: 7, inputSchema: "none" } };
    expect(new ToolIndex([odd]).search("x", 1).tools).toEqual([odd]);
    expect(new ToolIndex([]).search("x y z", 1)).toEqual({ tools: [], unknown: ["x", "y", "z"] });
  });
});
