// Short forms of long answers: summaries of servers, the index of tools, and one tool with its schemas.

import { beforeAll, describe, expect, it } from "vitest";
import type { Server } from "../../hub/src/api/schemas/server.ts";
import type { ToolIndex } from "../../hub/src/api/schemas/tool.ts";
import { estimateTokens } from "../../hub/src/catalog/tokens.ts";
import { send, usePlantedHub } from "./planted-hub.ts";

const managed = usePlantedHub();
const get = async (path: string) => (await managed().ask(path)).json;
const definitionsOf = (server: string) => managed().hub.supervisor.get(server).listing?.tools ?? [];

describe("MG-1 servers in short", () => {
  beforeAll(async () => {
    // Starts the thread of the call log, for which a list of servers does not wait long.
    await managed().hub.callLog.query({});
    for (const tool of ["echo", "fail"]) {
      const answer = await send(managed(), `POST /servers/echo/tools/${tool}/call`, {
        body: { arguments: { text: "hi" } },
      });
      expect(answer.status).toBe(200);
    }
  });

  it("MG-1 a summary has numbers instead of lists, and what the server says of itself", async () => {
    const [echo] = await get("/servers?view=summary");
    const tokens = definitionsOf("echo").reduce((sum, definition) => sum + estimateTokens(definition), 0);
    expect(echo).toMatchObject({
      tools: [],
      resources: [],
      tool_count: definitionsOf("echo").length,
      resource_count: 1,
      tokens,
      restarts: 0,
      launcher: "node",
      server_info: { name: expect.any(String), version: expect.any(String) },
      capabilities: expect.arrayContaining(["tools"]),
      calls_24h: { total: 2, errors: 0, tool_errors: 1, p50_ms: expect.any(Number), p95_ms: expect.any(Number) },
    });
    expect(await get("/servers/echo?view=summary")).toEqual({ ...echo });
  });

  it("MG-1 the full view has the same figures, and servers without calls have none", async () => {
    const servers: Server[] = await get("/servers");
    const byName = new Map(servers.map((server) => [server.config.name, server]));
    expect(byName.get("echo")).toMatchObject({ calls_24h: { total: 2 }, launcher: "node" });
    expect(byName.get("second")).toMatchObject({ calls_24h: null, prompt_count: expect.any(Number) });
    expect(byName.get("remote")).toMatchObject({ launcher: "remote", server_info: null, capabilities: [], tokens: 0 });
    expect(byName.get("arguments")).toMatchObject({ launcher: "program", instructions: null });
  });

  it("MG-1 a summary that has not changed is not sent again", async () => {
    const { headers } = await managed().ask("/servers?view=summary");
    const again = await managed().ask("/servers?view=summary", {
      headers: { "if-none-match": String(headers["etag"]) },
    });
    expect(again.status).toBe(304);
  });
});

describe("the index of tools", () => {
  it("MG-1 has the tools of a group under the names that clients see", async () => {
    const index: ToolIndex = await get("/groups/default/tools?view=index");
    expect(index.servers).toEqual(["echo", "second"]);
    const full: { name: string; server: string; tool: string }[] = await get("/groups/default/tools");
    expect(index.tools.map(([server, name, tool]) => ({ server: index.servers[server], name, tool }))).toEqual(
      full.map(({ server, name, tool }) => ({ server, name, tool })),
    );
  });

  it("MG-1 has the tools of all servers under their own names, with their tokens", async () => {
    const index: ToolIndex = await get("/tools?view=index");
    const expected = ["echo", "second"].flatMap((server, at) =>
      definitionsOf(server).map((definition) => [
        at,
        definition["name"],
        definition["name"],
        estimateTokens(definition),
      ]),
    );
    expect(index.tools.map(([server, name, own, , , tokens]) => [server, name, own, tokens])).toEqual(expected);
  });
});

describe("one tool", () => {
  it("MG-1 of a server, by its name there", async () => {
    const definition = definitionsOf("echo").find(({ name }) => name === "add");
    expect(await get("/servers/echo/tools/add")).toEqual({
      name: "add",
      description: "The tool add",
      input_schema: definition?.["inputSchema"],
      tokens: estimateTokens(definition ?? {}),
    });
  });

  it("MG-1 of a group, by the name that clients see, or by server:tool", async () => {
    const tool = await get("/groups/default/tools/echo__add");
    expect(tool).toMatchObject({ name: "echo__add", server: "echo", tool: "add", tokens: expect.any(Number) });
    expect(await get("/groups/default/tools/echo%3Aadd")).toEqual(tool);
  });

  it.each(["/servers/echo/tools/ad", "/groups/desk/tools/ad", "/servers/none/tools/add"])(
    "MG-1 %s is not found",
    async (path) => {
      expect(await managed().ask(path)).toMatchObject({ status: 404 });
    },
  );
});

it("MG-1 lists the prompts and the resource templates of a server", async () => {
  const { prompts, templates } = managed().hub.supervisor.get("echo").listing ?? { prompts: [], templates: [] };
  expect((await get("/servers/echo/prompts")).map(({ name }: { name: string }) => name)).toEqual(
    prompts.map(({ name }) => name),
  );
  const shown: { uri_template: string }[] = await get("/servers/echo/resource-templates");
  expect(shown.map(({ uri_template }) => uri_template)).toEqual(templates.map(({ uriTemplate }) => uriTemplate));
});
