import { describe, expect, it } from "vitest";
import { HubError } from "../../errors.ts";
import type { JsonObject } from "../../lib/json/json.ts";
import { failure, success, type Reply } from "../../protocol/rpc/jsonrpc.ts";
import { fetchListing } from "./lists.ts";

const ALL = { tools: {}, prompts: {}, resources: {} };
const NOTHING: Record<string, JsonObject> = {
  "tools/list": { tools: [] },
  "prompts/list": { prompts: [] },
  "resources/list": { resources: [] },
  "resources/templates/list": { resourceTemplates: [] },
};

/** A server that answers by method; other lists are empty. */
function server(answers: Record<string, (params: JsonObject) => Reply | Promise<Reply>>) {
  const asked: [method: string, params: JsonObject][] = [];
  const ask = async (method: string, params: JsonObject): Promise<Reply> => {
    asked.push([method, params]);
    return (await answers[method]?.(params)) ?? success(NOTHING[method]);
  };
  return { ask, asked };
}

const tool = (name: unknown) => ({ name, inputSchema: { type: "object" } });

describe("capabilities", () => {
  it("MC-T3 only announced lists are read", async () => {
    const { ask, asked } = server({});
    expect((await fetchListing(ask, { tools: {} })).listing).toEqual({
      tools: [],
      prompts: [],
      resources: [],
      templates: [],
    });
    expect(asked).toEqual([["tools/list", {}]]);
  });

  it("MC-T3 all four lists", async () => {
    const { ask, asked } = server({});
    await fetchListing(ask, ALL);
    expect(asked.map(([method]) => method).toSorted()).toEqual(Object.keys(NOTHING).toSorted());
  });

  it.each([{}, { tools: null }, { tools: true }, { tools: [] }])("%j promise no tools", async (capabilities) => {
    const { ask, asked } = server({});
    await fetchListing(ask, capabilities);
    expect(asked).toEqual([]);
  });
});

describe("pages", () => {
  /** Pages by cursor: the entries and the next cursor. */
  const paged = (pages: Record<string, [names: unknown[], next?: unknown]>) =>
    server({
      "tools/list": ({ cursor }) => {
        const [names, nextCursor] = pages[String(cursor)] ?? [[]];
        return success({ tools: names.map(tool), nextCursor });
      },
    });
  const names = async ({ ask }: ReturnType<typeof server>) =>
    (await fetchListing(ask, { tools: {} })).listing.tools.map((entry) => entry["name"]);

  it("CL-4 all are read, in order", async () => {
    const pages = paged({ undefined: [["a"], "x"], x: [["b"], "y"], y: [["c"]] });
    expect(await names(pages)).toEqual(["a", "b", "c"]);
    expect(pages.asked.map(([, params]) => params)).toEqual([{}, { cursor: "x" }, { cursor: "y" }]);
  });

  it("CL-4 the empty string is a cursor, null is not", async () => {
    expect(await names(paged({ undefined: [["a"], ""], "": [["b"], null] }))).toEqual(["a", "b"]);
  });

  it("CL-4 an empty page is not the last one", async () => {
    expect(await names(paged({ undefined: [[], "x"], x: [["b"]] }))).toEqual(["b"]);
  });

  it.each([
    ["its own", { undefined: [["a"], "x"], x: [["b"], "x"] }],
    ["an earlier", { undefined: [["a"], "x"], x: [["b"], "y"], y: [[], "x"] }],
  ] as const)("CL-4 SE-5 a page that names %s cursor again is the last one", async (_, pages) => {
    expect(await names(paged(pages as never))).toEqual(["a", "b"]);
  });

  it("SE-5 a list without an end ends", async () => {
    let page = 0;
    const endless = server({ "tools/list": () => success({ tools: [tool(`t${page++}`)], nextCursor: `c${page}` }) });
    expect((await names(endless)).length).toBe(1000);
  });
});

describe("entries", () => {
  it("CL-4 invalid tools are left out, the others are unchanged", async () => {
    const good = { name: "good", inputSchema: { type: "object" }, future: { field: [1] } };
    const bad = [null, 7, "text", [], {}, tool(7), tool(null), tool(""), tool("x".repeat(129)), { inputSchema: {} }];
    const { ask } = server({ "tools/list": () => success({ tools: [...bad, good, ...bad, tool("x".repeat(128))] }) });
    const { listing, warnings } = await fetchListing(ask, ALL);
    expect(listing.tools).toEqual([good, tool("x".repeat(128))]);
    expect(listing.tools[0]).toBe(good);
    expect(warnings).toContain(
      `Tool "${"x".repeat(60)}…" not listed: its name has 129 characters (at most 128 are allowed)`,
    );
    expect(warnings).toContain("4 tools (#5, #10, #16, …) not listed: it has no name");
  });

  it.each([undefined, null, "tools", {}, 7])("CL-4 tools that are %j are none", async (tools) => {
    const { ask } = server({ "tools/list": () => success({ tools }) });
    expect((await fetchListing(ask, ALL)).listing.tools).toEqual([]);
  });

  it.each([null, [], 7, "text"])("CL-4 a result that is %j is an empty one", async (result) => {
    const { ask } = server({ "tools/list": () => success(result) });
    expect((await fetchListing(ask, ALL)).listing.tools).toEqual([]);
  });

  it("CL-4 resources go by uri, which may be long, templates by uriTemplate", async () => {
    const resource = { uri: `file:///${"x".repeat(1000)}`, name: "r" };
    const template = { uriTemplate: "file:///{path}", name: "t" };
    const { ask } = server({
      "resources/list": () => success({ resources: [resource, { name: "no uri" }] }),
      "resources/templates/list": () => success({ resourceTemplates: [template, { uri: "x" }] }),
    });
    expect((await fetchListing(ask, ALL)).listing).toMatchObject({ resources: [resource], templates: [template] });
  });
});

describe("failures", () => {
  const refuses = () => failure({ code: -32601, message: "not really" });

  it.each(["prompts/list", "resources/list", "resources/templates/list"])(
    "LC-7 a server that refuses %s still has its tools",
    async (method) => {
      const { ask } = server({ "tools/list": () => success({ tools: [tool("a")] }), [method]: refuses });
      const { listing, warnings, isPartial } = await fetchListing(ask, ALL);
      expect(listing).toMatchObject({ tools: [tool("a")], prompts: [], resources: [] });
      // A server without the list answers with an error.
      expect({ warnings, isPartial }).toEqual({ warnings: [], isPartial: false });
    },
  );

  it("a list that fails for another reason is a warning and is retried", async () => {
    const { ask } = server({ "prompts/list": () => failure({ code: -32603, message: "no network" }) });
    expect(await fetchListing(ask, ALL)).toMatchObject({
      warnings: ["prompts/list fails, so none are listed: no network"],
      isPartial: true,
    });
  });

  it("LC-2 a server that refuses to list its tools does not start", async () => {
    const { ask } = server({ "tools/list": refuses });
    await expect(fetchListing(ask, ALL)).rejects.toMatchObject({ kind: "ProtocolError", detail: "not really" });
  });

  it("LC-2 a connection that is lost while the prompts are listed is a failure", async () => {
    const lost = new HubError("ServerNotRunning", "The server exited with code 1");
    const { ask } = server({ "prompts/list": () => Promise.reject(lost) });
    await expect(fetchListing(ask, ALL)).rejects.toBe(lost);
  });
});
