// Which process of a server serves whom where nothing is set: clients of both eras each in theirs, and clients that the server
// asks for something each in one of their own. The hub runs in the test's process, its servers are real ones.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
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
  });
  url = `${await made.hub.listen({ host: "127.0.0.1", port: 0 })}/mcp`;
  await made.hub.start();
});

afterAll(async () => {
  for (const client of clients) await client.close();
  expect(await made.end()).toEqual([]);
  await rm(base, { recursive: true, force: true });
});

/** The first thing that the process heard which serves a caller of this era. */
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
  ])("CL-2 %s is asked %s by legacy clients, %s by modern ones", async (server, legacy, newer, others) => {
    expect([await firstHeard("legacy", server), await firstHeard("modern", server)]).toEqual([legacy, newer]);
    // Legacy clients share theirs.
    expect(await firstHeard("legacy", server)).toBe(legacy);
    if (others !== undefined) expect(made.hub.supervisor.get(server).instances).toHaveLength(others);
    expect(made.hub.supervisor.get(server).status.state).toBe("running");
  });
});

describe("F5 roots, and a file server that was given no folder", () => {
  /** A client that works in a folder of its own. */
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

  it.each(["files", "files_own"])("%s: each client works in its own, from its first call on", async (server) => {
    const [one, other] = [await withFolder(`one-${server}`), await withFolder(`other-${server}`)];
    expect(await Promise.all([read(one.client, server, one.folder), read(other.client, server, other.folder)])).toEqual(
      [`of one-${server}`, `of other-${server}`],
    );
    expect(await read(one.client, server, other.folder)).toContain("Access denied");
  });

  it("D24 a server that asks for roots before there is a client hears that there are none, not that something is wrong", () => {
    const said = made.hub.supervisor
      .get("files")
      .logs(100)
      .map(({ text }) => text);
    expect(said.join("\n")).not.toMatch(/Failed to request|nobody|-32600/);
  });

  it("a client without roots gets nobody else's", async () => {
    const { folder } = await withFolder("last");
    const { request } = await connect(url);
    const args = { path: join(folder, "note.txt") };
    const { result } = await request("tools/call", { name: "files__read_text_file", arguments: args });
    expect(result).toMatchObject({ isError: true });
  });
});
