// Servers that ask their clients back: sampling, elicitation by form and by address, roots. Old and new clients before old and
// new servers, all of them on the official SDKs, through the built hub.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ABLE, connectAsked, type AskedClient, type ClientEra } from "../support/asked-clients.ts";
import { fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { startRemote, type Remote } from "../support/remote.ts";

const CLIENTS: readonly ClientEra[] = ["legacy", "modern"];
const SERVERS = ["legacy_stdio", "legacy_http", "modern_stdio", "modern_http"] as const;
const CELLS = CLIENTS.flatMap((client) => SERVERS.map((server) => [client, server] as const));

const remotes: Remote[] = [];
let home: Home;
let hub: RunningHub;

beforeAll(async () => {
  remotes.push(await startRemote("asks-legacy", ["--http"]), await startRemote("asks-modern", ["--http"]));
  home = await makeHome({
    legacy_stdio: fixture("asks-legacy"),
    legacy_http: remotes[0]?.entry ?? {},
    modern_stdio: fixture("asks-modern"),
    modern_http: remotes[1]?.entry ?? {},
  });
  hub = await startHub(home);
});

afterAll(async () => {
  await hub?.stop();
  await Promise.all(remotes.map((remote) => remote.stop()));
  await home?.remove();
});

const open: AskedClient[] = [];
const connect = async (...[era, options]: [ClientEra, Parameters<typeof connectAsked>[2]?]) => {
  const client = await connectAsked(era, { url: `${hub.url}/mcp` }, options);
  open.push(client);
  return client;
};

describe.each(CELLS)("a %s client of %s", (era, server) => {
  let client: AskedClient;
  const call = (tool: string, args = {}) => client.call(`${server}__${tool}`, args);
  const value = async (tool: string, args = {}) => JSON.parse((await call(tool, args)).text);
  /** What the client was asked since the last look, by method. */
  const asked = () => client.asked.all.splice(0).map(({ method, params }) => ({ method, params }));

  beforeAll(async () => {
    client = await connectAsked(era, { url: `${hub.url}/mcp` });
  });

  afterAll(() => client?.close());

  it("GR-7 a form is shown to the client, and its answer comes to the server", async () => {
    expect(await value("form", { marker: "m1" })).toEqual({ action: "accept", content: { said: "you asked: m1" } });
    expect(asked()).toMatchObject([
      {
        method: "elicitation/create",
        params: { message: "m1", requestedSchema: { properties: { said: { type: "string" } } } },
      },
    ]);
  });

  it("GR-7 so is an address", async () => {
    expect(await value("url", { marker: "m2" })).toMatchObject({ action: "accept" });
    expect(asked()).toMatchObject([
      { method: "elicitation/create", params: { mode: "url", message: "m2", url: "https://example.com/m2" } },
    ]);
  });

  it("GR-7 sampling, with tools too", async () => {
    for (const tool of ["sampling", "sampling_tools"]) {
      expect(await value(tool, { marker: "m3" })).toMatchObject({ content: { type: "text", text: "sampled" } });
      expect(asked()).toMatchObject([{ method: "sampling/createMessage", params: { maxTokens: 10 } }]);
    }
  });

  it("GR-7 roots", async () => {
    expect(await value("roots")).toEqual({ roots: [{ uri: "file:///home", name: "home" }] });
    expect(asked()).toMatchObject([{ method: "roots/list" }]);
  });

  it("GR-7 several questions at once, and one after another", async () => {
    expect(await value("several", { marker: "m4" })).toMatchObject([
      { content: { said: "you asked: m4" } },
      { roots: [{ uri: "file:///home" }] },
      { content: { text: "sampled" } },
    ]);
    expect(
      asked()
        .map(({ method }) => method)
        .toSorted(),
    ).toEqual(["elicitation/create", "roots/list", "sampling/createMessage"]);
    expect(await value("rounds", { marker: "m5", rounds: 4 })).toMatchObject(
      [1, 2, 3, 4].map((round) => ({ content: { said: `you asked: m5 ${round}` } })),
    );
    asked();
  });

  it("GR-7 in the course of a prompt and of a resource", async () => {
    expect(await client.getPrompt(`${server}__asked`)).toContain("you asked: the prompt");
    const { uri } = await resourceOf(server);
    expect(await client.readResource(uri)).toContain("you asked: the resource");
    asked();
  });

  it("GR-7 a call without questions asks nothing", async () => {
    expect((await call("plain")).text).toBe("plain");
    expect(asked()).toEqual([]);
  });
});

/** All four servers have the same resource, so each is exposed under an address of its own. */
async function resourceOf(server: string): Promise<{ uri: string }> {
  const { connect: rpc } = await import("../support/rpc.ts");
  const { result } = await (await rpc(`${hub.url}/mcp`)).request("resources/list");
  const found = result.resources.find(({ uri }: { uri: string }) => uri.includes(server));
  return found ?? { uri: "asked://it" };
}

void ABLE;
void connect;
