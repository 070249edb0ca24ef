// Which process of a server serves which caller by default: clients of each era share one, and clients that answer requests each
// have their own. The hub runs in the test process, its servers are real.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixture, published } from "../support/hub.ts";
import { openInProcess, type InProcess } from "../support/in-process.ts";
import { answerOf, connect, modern } from "../support/rpc.ts";

let made: InProcess;
let url: string;
let base: string;
const clients: Client[] = [];

beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "plugboard-apart-")));
  made = await openInProcess({
    files: published("server-filesystem"),
    files_own: { ...published("server-filesystem"), isolation: "per-session" },
    dual: fixture("dual", "auto"),
    dual_modern: { ...fixture("dual", "modern"), era: "modern" },
    dual_legacy: { ...fixture("dual", "legacy"), era: "legacy" },
    dual_own: { ...fixture("dual", "own"), isolation: "per-call" },
    modern: fixture("modern"),
    everything: published("server-everything"),
  });
  url = `${await made.hub.listen({ host: "127.0.0.1", port: 0 })}/mcp`;
  await made.hub.start();
});

afterAll(async () => {
  for (const client of clients) await client.close();
  expect(await made.end()).toEqual([]);
  await rm(base, { recursive: true, force: true });
});

/** The first message that the process for callers of this era received. */
async function firstHeard(era: "legacy" | "modern", server: string): Promise<unknown> {
  const params = { name: `${server}__heard`, arguments: {} };
  const reply =
    era === "modern"
      ? answerOf((await modern(url, "tools/call", params)).body)
      : await (await connect(url)).request("tools/call", params);
  return JSON.parse(reply.result.content[0].text)[0];
}

describe("a server of both eras on stdio", () => {
  it.each([
    ["dual", "initialize", "server/discover", 1],
    ["dual_modern", "server/discover", "server/discover", 0],
    ["dual_legacy", "initialize", "initialize", 0],
    ["dual_own", "initialize", "server/discover", undefined],
    ["modern", "server/discover", "server/discover", 0],
  ])("CL-2 %s gets %s for legacy clients and %s for modern ones", async (server, legacy, newer, others) => {
    expect([await firstHeard("legacy", server), await firstHeard("modern", server)]).toEqual([legacy, newer]);
    // Legacy clients share a process.
    expect(await firstHeard("legacy", server)).toBe(legacy);
    if (others !== undefined) expect(made.hub.supervisor.get(server).instances).toHaveLength(others);
    expect(made.hub.supervisor.get(server).status.state).toBe("running");
  });
});

describe("roots of clients, with a file server that has no folder", () => {
  /** A client with a root folder. */
  async function withFolder(name: string): Promise<{ folder: string; client: Client }> {
    const folder = await mkdtemp(join(base, name));
    await writeFile(join(folder, "note.txt"), `of ${name}`);
    const client = new Client({ name, version: "1" }, { capabilities: { roots: {} } });
    client.setRequestHandler(ListRootsRequestSchema, () => ({
      roots: [{ uri: pathToFileURL(folder).href, name }],
    }));
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    clients.push(client);
    return { folder, client };
  }

  const read = async (client: Client, server: string, folder: string) => {
    const args = { path: join(folder, "note.txt") };
    const { content } = await client.callTool({ name: `${server}__read_text_file`, arguments: args });
    return (content as { text: string }[])[0]?.text;
  };

  it.each(["files", "files_own"])("%s: each client works in its own root from its first call", async (server) => {
    const [one, other] = [await withFolder(`one-${server}`), await withFolder(`other-${server}`)];
    expect(await Promise.all([read(one.client, server, one.folder), read(other.client, server, other.folder)])).toEqual(
      [`of one-${server}`, `of other-${server}`],
    );
    expect(await read(one.client, server, other.folder)).toContain("Access denied");
  });

  it("a server that lists roots before there is a client gets an empty list, not an error", () => {
    const said = made.hub.supervisor
      .get("files")
      .logs(100)
      .map(({ text }) => text);
    expect(said.join("\n")).not.toMatch(/Failed to request|nobody|-32600/);
  });

  it("a client without roots does not get those of another client", async () => {
    const { folder } = await withFolder("last");
    const { request } = await connect(url);
    const args = { path: join(folder, "note.txt") };
    const { result } = await request("tools/call", { name: "files__read_text_file", arguments: args });
    expect(result).toMatchObject({ isError: true });
  });
});

it(
  "a client with several open calls is asked in the call that the request belongs to",
  { timeout: 60_000 },
  async () => {
    const client = new Client({ name: "parallel", version: "1" }, { capabilities: { elicitation: {} } });
    const asked: string[] = [];
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      asked.push(params.message);
      return { action: "decline" };
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    clients.push(client);
    const call = async (tool: string, args: Record<string, unknown> = {}) => {
      const { content } = await client.callTool({ name: `everything__${tool}`, arguments: args });
      return JSON.stringify(content);
    };
    const slow = { duration: 3, steps: 3 };
    const [before, elicited, after] = await Promise.all([
      call("trigger-long-running-operation", slow),
      call("trigger-elicitation-request"),
      call("trigger-long-running-operation", slow),
    ]);
    expect([before, after]).toEqual([expect.stringContaining("completed"), expect.stringContaining("completed")]);
    expect([asked.length, elicited]).toEqual([1, expect.stringContaining("declined")]);
  },
);
