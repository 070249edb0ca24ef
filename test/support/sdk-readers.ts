// The official client libraries as readers of the hub's lists: each reads all four lists and returns what it understood.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

/** Names of tools and prompts, URIs of resources and templates. */
export interface ReadLists {
  readonly tools: string[];
  readonly prompts: string[];
  readonly resources: string[];
  readonly templates: string[];
}

export type SdkReader = readonly [name: string, read: (url: string) => Promise<ReadLists>];

const info = { name: "test", version: "1" };
const modern = { versionNegotiation: { mode: { pin: "2026-07-28" } } } as const;

export const TYPESCRIPT_READERS: readonly SdkReader[] = [
  ["TypeScript SDK v1", async (url) => readWith(new ClientV1(info), new HttpV1(new URL(url)))],
  ["TypeScript SDK v2, legacy", async (url) => readWith(new ClientV2(info), new HttpV2(new URL(url)))],
  ["TypeScript SDK v2, modern", async (url) => readWith(new ClientV2(info, modern), new HttpV2(new URL(url)))],
];

export async function connectV2(url: string, mode: "legacy" | "modern"): Promise<ClientV2> {
  const client = new ClientV2(info, mode === "modern" ? modern : {});
  await client.connect(new HttpV2(new URL(url)));
  return client;
}

interface ListingClient<T> {
  connect(transport: T): Promise<void>;
  listTools(): Promise<{ tools: { name: string }[] }>;
  listPrompts(): Promise<{ prompts: { name: string }[] }>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
  listResourceTemplates(): Promise<{ resourceTemplates: { uriTemplate: string }[] }>;
  close(): Promise<void>;
}

async function readWith<T>(client: ListingClient<T>, transport: T): Promise<ReadLists> {
  await client.connect(transport);
  try {
    return {
      tools: (await client.listTools()).tools.map(({ name }) => name),
      prompts: (await client.listPrompts()).prompts.map(({ name }) => name),
      resources: (await client.listResources()).resources.map(({ uri }) => uri),
      templates: (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    };
  } finally {
    await client.close();
  }
}

/** A Python with the official SDK: PLUGBOARD_TEST_PYTHON, or test/.venv. Undefined if there is none. */
export function testPython(): string | undefined {
  const venv = join(fileURLToPath(new URL("../.venv", import.meta.url)), "bin/python");
  return [process.env["PLUGBOARD_TEST_PYTHON"] ?? "", venv].find((path) => path !== "" && existsSync(path));
}

export const INSTALL_PYTHON = "python3 -m venv test/.venv && test/.venv/bin/pip install mcp";

const PYTHON = `
import asyncio, json, sys
try:
    from mcp import Client
except ImportError:
    Client = None

async def lists(of):
    resources = getattr(await of.list_resource_templates(), "resource_templates", None)
    print(json.dumps({
        "tools": [t.name for t in (await of.list_tools()).tools],
        "prompts": [p.name for p in (await of.list_prompts()).prompts],
        "resources": [str(r.uri) for r in (await of.list_resources()).resources],
        "templates": [t.uri_template for t in resources] if resources is not None
            else [t.uriTemplate for t in (await of.list_resource_templates()).resourceTemplates],
    }))

async def main(url):
    if Client is not None:
        async with Client(url) as client:
            return await lists(client)
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client
    async with streamablehttp_client(url) as (read, write, _):
        async with ClientSession(read, write) as session:
            await session.initialize()
            await lists(session)

asyncio.run(main(sys.argv[1]))
`;

/** The Python SDK, second or first generation. */
export async function readWithPython(url: string): Promise<ReadLists> {
  const { stdout } = await promisify(execFile)(testPython() ?? "", ["-c", PYTHON, url], { timeout: 50_000 });
  return JSON.parse(stdout) as ReadLists;
}
