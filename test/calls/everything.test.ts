// The everything server, called directly and through the hub: the results must be equal JSON.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { makeHome, published, startHub, type Home, type RunningHub } from "../support/hub.ts";

/** Accepts any result, so that the SDK removes nothing. */
const anything = z.looseObject({});

/** The capabilities that the hub announces. The server offers some tools only to clients that have them. */
const ABLE = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };

const LISTS = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];

const QUESTIONS: [method: string, params: Record<string, unknown>][] = [
  ["tools/call", { name: "echo", arguments: { message: "hello ✓ \u2028" } }],
  ["tools/call", { name: "get-sum", arguments: { a: 2, b: 3.5 } }],
  ["tools/call", { name: "get-structured-content", arguments: { location: "New York" } }],
  ["tools/call", { name: "get-annotated-message", arguments: { messageType: "error", includeImage: true } }],
  ["tools/call", { name: "get-tiny-image", arguments: {} }],
  ["tools/call", { name: "get-resource-links", arguments: { count: 3 } }],
  ["tools/call", { name: "get-sum", arguments: { a: "wrong" } }],
  ["tools/call", { name: "get-resource-reference", arguments: { resourceType: "Text", resourceId: 3 } }],
  ["tools/call", { name: "get-resource-reference", arguments: { resourceId: -1 } }],
  [
    "tools/call",
    { name: "gzip-file-as-resource", arguments: { name: "a.gz", data: "data:text/plain,hi", outputType: "resource" } },
  ],
  ["tools/call", { name: "trigger-long-running-operation", arguments: { duration: 0.01, steps: 2 } }],
  ["tools/call", { name: "simulate-research-query", arguments: { topic: "tides" }, task: { ttl: "wrong" } }],
  ["prompts/get", { name: "simple-prompt" }],
  ["prompts/get", { name: "completable-prompt", arguments: { department: "Engineering", name: "Alice" } }],
  ["prompts/get", { name: "resource-prompt", arguments: { resourceType: "Text", resourceId: "2" } }],
  ["prompts/get", { name: "args-prompt" }],
  ["resources/read", { uri: "demo://resource/dynamic/text/7" }],
  ["resources/read", { uri: "demo://resource/dynamic/text/none" }],
  [
    "completion/complete",
    {
      ref: { type: "ref/resource", uri: "demo://resource/dynamic/text/{resourceId}" },
      argument: { name: "resourceId", value: "4" },
    },
  ],
  ["prompts/get", { name: "args-prompt", arguments: { city: "Turku", state: "FI" } }],
  ["resources/templates/list", {}],
];

describe("the everything server through a group of its own", () => {
  let home: Home;
  let hub: RunningHub;
  let direct: Client;
  let through: Client;

  beforeAll(async () => {
    home = await makeHome({ everything: published("server-everything") });
    hub = await startHub(home);
    const { command, args } = published("server-everything");
    direct = await connected(new StdioClientTransport({ command, args, stderr: "ignore" }));
    through = await connected(new StreamableHTTPClientTransport(new URL(`${hub.url}/mcp`)));
  });

  afterAll(async () => {
    await Promise.all([direct?.close(), through?.close()]);
    await hub?.stop();
    await home?.remove();
  });

  const ask = async (client: Client, method: string, params: Record<string, unknown>) =>
    client.request({ method, params }, anything).then(
      (result) => ({ result }),
      (error: { code: number; message: string; data?: unknown }) => ({
        error: { code: error.code, message: error.message, data: error.data },
      }),
    );

  it.each(LISTS)("CL-5 GR-7 %s returns the same as the server", async (method) => {
    const expected = await ask(direct, method, {});
    expect(JSON.stringify(await ask(through, method, {}))).toBe(JSON.stringify(expected));
    expect(JSON.stringify(expected).length).toBeGreaterThan(100);
  });

  it.each(QUESTIONS)("CL-5 GR-5 %s %j returns the same as the server", async (method, params) => {
    const expected = timeless(await ask(direct, method, params));
    expect(timeless(await ask(through, method, params))).toBe(expected);
    expect(expected.length).toBeGreaterThan(20);
  });

  it("CL-5 every listed resource has the same content", async () => {
    const { resources } = await direct.listResources();
    expect(resources.length).toBeGreaterThan(3);
    for (const { uri } of resources) {
      const [expected, got] = [
        await ask(direct, "resources/read", { uri }),
        await ask(through, "resources/read", { uri }),
      ];
      expect(JSON.stringify(got)).toBe(JSON.stringify(expected));
    }
  });

  it("GR-7 completions are passed on", async () => {
    const params = {
      ref: { type: "ref/prompt", name: "completable-prompt" },
      argument: { name: "department", value: "E" },
    };
    const expected = await ask(direct, "completion/complete", params);
    expect(expected).toMatchObject({ result: { completion: { values: ["Engineering"] } } });
    expect(await ask(through, "completion/complete", params)).toEqual(expected);
  });

  it("GR-7 CL-3 progress arrives with the caller's token", async () => {
    const seen: number[] = [];
    const args = { name: "trigger-long-running-operation", arguments: { duration: 0.5, steps: 4 } };
    await through.callTool(args, undefined, { onprogress: ({ progress }) => seen.push(progress) });
    expect(seen).toEqual([1, 2, 3, 4]);
  });
});

/** JSON without the time of day, which some texts contain. */
function timeless(answer: unknown): string {
  return JSON.stringify(answer).replaceAll(/\d{1,2}:\d\d:\d\d( [AP]M)?/g, "(time)");
}

async function connected(transport: Transport): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { capabilities: ABLE });
  await client.connect(transport);
  return client;
}
