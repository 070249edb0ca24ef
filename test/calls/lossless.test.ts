// A server with every kind of definition and content, queried directly and through the hub, on the wire: within one era nothing
// differs; between the eras only the members that the other era does not have.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { answerOf, connect, modern } from "../support/rpc.ts";
import { Messages, onLines } from "../support/streams.ts";

const QUESTIONS: [method: string, params: Record<string, unknown>][] = [
  ["tools/list", {}],
  ["prompts/list", {}],
  ["resources/list", {}],
  ["resources/templates/list", {}],
  ["tools/call", { name: "everything", arguments: { how: null } }],
  ["tools/call", { name: "fail" }],
  ["prompts/get", { name: "ask", arguments: { who: "é ✓" } }],
  ["resources/read", { uri: "rich:1" }],
  ["resources/read", { uri: "rich:item/7?x=%20" }],
  ["resources/read", { uri: "rich:item/gone" }],
  ["resources/read", { uri: "ui://page" }],
  ["completion/complete", { ref: { type: "ref/prompt", name: "ask" }, argument: { name: "who", value: "a" } }],
  [
    "completion/complete",
    {
      ref: { type: "ref/resource", uri: "rich:item/{id}" },
      argument: { name: "id", value: "1" },
      context: { arguments: { who: "x" } },
    },
  ],
];

const VERSION = "io.modelcontextprotocol/protocolVersion";
const ENVELOPE = {
  [VERSION]: "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** The answer to a request as JSON, a result or an error, without the members that each hop sets itself. */
type Ask = (method: string, params: Record<string, unknown>) => Promise<Record<string, unknown>>;
type Era = "legacy" | "modern";

const endings: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

/** The server itself, over stdio. */
async function direct(era: Era): Promise<Ask> {
  const { command, args } = fixture("rich", era);
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const messages = new Messages();
  onLines(child.stdout, (line) => messages.push(JSON.parse(line)));
  endings.push(async () => {
    const exited = once(child, "exit");
    child.stdin.end();
    await exited;
  });
  const write = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  let last = 0;
  const ask: Ask = async (method, params) => {
    const id = ++last;
    write({ id, method, params: era === "modern" ? { ...params, _meta: ENVELOPE } : params });
    return ownWords(await messages.find((message) => message.id === id));
  };
  if (era === "legacy") {
    await ask("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "t", version: "1" },
    });
    write({ method: "notifications/initialized" });
  }
  return ask;
}

/** Removes the server info and the cache hints, which each hop sets itself. */
function ownWords({ result, error }: { result?: Record<string, unknown>; error?: unknown }): Record<string, unknown> {
  if (result === undefined) return { error };
  const { ttlMs: _ttl, cacheScope: _scope, _meta: meta, ...rest } = result;
  const { "io.modelcontextprotocol/serverInfo": _info, ...kept } = (meta ?? {}) as Record<string, unknown>;
  return { result: { ...rest, ...(Object.keys(kept).length === 0 ? {} : { _meta: kept }) } };
}

describe("one server in a group", () => {
  const servers = {} as Record<Era, Ask>;
  let home: Home;
  let hub: RunningHub;

  beforeAll(async () => {
    home = await makeHome(
      { legacy: fixture("rich", "legacy"), modern: fixture("rich", "modern") },
      { legacy: { servers: ["legacy"] }, modern: { servers: ["modern"] } },
    );
    hub = await startHub(home);
    endings.push(async () => {
      await hub.stop();
      await home.remove();
    });
    servers.legacy = await direct("legacy");
    servers.modern = await direct("modern");
  });

  async function client(era: string, group: Era): Promise<Ask> {
    const url = `${hub.url}/mcp/${group}`;
    if (era === "modern") {
      return async (method, params) => ownWords(answerOf((await modern(url, method, params)).body));
    }
    const { request } = await connect(url, era === "legacy" ? "2025-11-25" : era);
    return async (method, params) => ownWords(await request(method, params));
  }

  describe.each<Era>(["legacy", "modern"])("%s client and server", (era) => {
    it.each(QUESTIONS)("CL-5 GR-5 %s %j returns the same as the server", async (method, params) => {
      const through = await client(era, era);
      const expected = await servers[era](method, params);
      const got = await through(method, params);
      expect(got).toEqual(expected);
      // The serialized length is equal too; members that the hub adds may have moved to the end.
      expect(JSON.stringify(got).length).toBe(JSON.stringify(expected).length);
      expect(JSON.stringify(expected).length).toBeGreaterThan(50);
    });
  });

  /** A result without members that the other era does not have. */
  const without = (answer: Record<string, unknown>, ...keys: string[]) => {
    const result = { ...(answer["result"] as Record<string, unknown>) };
    for (const key of keys) delete result[key];
    return { result };
  };

  it("GR-7 the UI extension is announced to clients of both eras, whatever the server's era", async () => {
    const ui = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };
    for (const group of ["legacy", "modern"]) {
      const url = `${hub.url}/mcp/${group}`;
      const discovered = answerOf((await modern(url, "server/discover")).body);
      expect(discovered.result.capabilities.extensions).toEqual(ui);
      expect((await connect(url)).hello.result.capabilities.extensions).toEqual(ui);
    }
  });

  describe("a modern client of a legacy server", () => {
    it.each(QUESTIONS.filter(([method, { uri }]) => method !== "tools/list" && uri !== "rich:item/gone"))(
      "CL-5 GR-5 %s %j gets the complete result",
      async (method, params) => {
        const got = await (await client("modern", "legacy"))(method, params);
        expect(got["result"]).toMatchObject({ resultType: "complete" });
        expect(without(got, "resultType")).toEqual(await servers.legacy(method, params));
      },
    );

    it("CL-5 GR-5 tools/list is the same except for `execution`", async () => {
      const got = await (await client("modern", "legacy"))("tools/list", {});
      const { tools } = (await servers.legacy("tools/list", {}))["result"] as { tools: Record<string, unknown>[] };
      expect(tools.some((tool) => "execution" in tool)).toBe(true);
      const known = tools.map((tool) => ({ ...tool }));
      for (const tool of known) delete tool["execution"];
      expect(got).toEqual({ result: { resultType: "complete", tools: known } });
    });
  });

  describe.each(["2025-11-25", "2025-06-18"])("a client of %s of a modern server", (version) => {
    it.each(QUESTIONS.filter(([method]) => method !== "tools/list"))(
      "CL-5 GR-5 %s %j gets the complete result",
      async (method, params) => {
        const expected = await servers.modern(method, params);
        const got = await (await client(version, "modern"))(method, params);
        expect(got).toEqual("error" in expected ? expected : without(expected, "resultType"));
      },
    );

    it("GR-5 a non-object result is wrapped, in the list and in the answer", async () => {
      const through = await client(version, "modern");
      const { tools } = (await through("tools/list", {}))["result"] as { tools: Record<string, unknown>[] };
      expect(tools.find(({ name }) => name === "list")?.["outputSchema"]).toMatchObject({
        type: "object",
        properties: { result: { type: "array", items: { $ref: "#/properties/result/$defs/n" } } },
        required: ["result"],
      });
      expect(await through("tools/call", { name: "list" })).toEqual({
        result: {
          structuredContent: { result: [{ name: "a" }] },
          content: [{ type: "text", text: '[{"name":"a"}]' }],
        },
      });
    });
  });

  describe.each<Era>(["legacy", "modern"])("a client of 2025-03-26 of a %s server", (group) => {
    it("GR-5 gets no structured content and no links that its revision does not have", async () => {
      const through = await client("2025-03-26", group);
      const { tools } = (await through("tools/list", {}))["result"] as { tools: Record<string, unknown>[] };
      expect(tools.filter((tool) => "outputSchema" in tool)).toEqual([]);
      const { result } = await through("tools/call", { name: "everything" });
      const { content } = (await servers[group]("tools/call", { name: "everything" }))["result"] as {
        content: Record<string, unknown>[];
      };
      const {
        structuredContent: _,
        resultType: _type,
        ...rest
      } = (
        await servers[group]("tools/call", {
          name: "everything",
        })
      )["result"] as Record<string, unknown>;
      const text = { type: "text", text: "One: d (rich:1)", annotations: content[3]?.["annotations"] };
      expect(result).toEqual({ ...rest, content: content.map((block, at) => (at === 3 ? text : block)) });
    });
  });
});
