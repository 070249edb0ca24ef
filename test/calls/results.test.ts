// Results that are larger than the limit of their group or server: clients of both eras get a beginning that is valid, and read the
// rest as resources; nobody else can.

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isObject, type JsonObject } from "../../hub/src/lib/json/json.ts";
import { clientOf, tokenOf } from "../support/client.ts";
import { fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { http } from "../support/rpc.ts";

const ERAS = ["legacy", "modern"] as const;
const info = { name: "test", version: "1" };

let home: Home;
let hub: RunningHub;

beforeAll(async () => {
  home = await makeHome(
    { files: fixture("files"), small: { ...fixture("files", "modern"), results: { max_tokens: 500 } } },
    {
      limited: { servers: ["files"], results: { max_bytes: 4000 } },
      free: { servers: ["files"] },
      ofserver: { servers: ["small"] },
      lifted: { servers: ["small"], results: {} },
      searched: { servers: ["files"], results: { max_bytes: 4000 }, exposure: "search" },
    },
  );
  hub = await startHub(home);
});

afterAll(async () => {
  await hub?.stop();
  await home?.remove();
});

interface Connected {
  call(name: string, args: JsonObject): Promise<JsonObject>;
  read(uri: string): Promise<JsonObject[]>;
  close(): Promise<void>;
}

/** On the official SDKs, which check structured content against the schemas that they have listed. */
async function connect(era: (typeof ERAS)[number], group: string): Promise<Connected> {
  const url = new URL(`${hub.url}/mcp/${group}`);
  if (era === "legacy") {
    const client = new ClientV1(info);
    await client.connect(new HttpV1(url));
    await client.listTools();
    return {
      call: async (name, args) => ({ ...(await client.callTool({ name, arguments: { ...args } })) }),
      read: async (uri) => (await client.readResource({ uri })).contents,
      close: () => client.close(),
    };
  }
  const client = new ClientV2(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  await client.connect(new HttpV2(url));
  await client.listTools();
  return {
    call: async (name, args) => ({ ...(await client.callTool({ name, arguments: { ...args } })) }),
    read: async (uri) => (await client.readResource({ uri })).contents,
    close: () => client.close(),
  };
}

function blocksOf({ content }: JsonObject): JsonObject[] {
  return Array.isArray(content) ? content.filter(isObject) : [];
}

const linkIn = (result: JsonObject) => String(blocksOf(result).find(({ type }) => type === "resource_link")?.["uri"]);

describe.each(ERAS)("RG-3 a %s client", (era) => {
  it("gets the beginning of a long text, and reads the rest by page", async () => {
    const client = await connect(era, "limited");
    const result = await client.call("text", { size: 10_000, fail: true });
    expect(result["isError"]).toBe(true);
    expect(JSON.stringify(result).length).toBeLessThan(6000);
    const whole = Array.from({ length: 1000 }, (_, at) => `line ${String(at).padStart(4, "0")}\n`).join("");
    expect(whole.startsWith(String(blocksOf(result)[0]?.["text"]))).toBe(true);
    const pages = [];
    for (let page = 1; page <= 3; page++)
      pages.push((await client.read(`${linkIn(result)}?page=${page}`))[0]?.["text"]);
    expect(pages.join("")).toBe(whole);
    await client.close();
  });

  it("gets structured content that its schema allows", async () => {
    const client = await connect(era, "limited");
    const { structuredContent } = await client.call("rows", { count: 500 });
    expect(structuredContent).toMatchObject({ total: 500, rows: expect.arrayContaining([{ id: 0, name: "row 0" }]) });
    expect(await client.call("fixed", {})).toMatchObject({ structuredContent: { all: "x".repeat(6000) } });
    await client.close();
  });

  it("cannot read what another session was sent", async () => {
    const [client, other] = [await connect(era, "limited"), await connect("legacy", "limited")];
    const link = linkIn(await client.call("text", { size: 10_000 }));
    await expect(other.read(link)).rejects.toThrow(/Resource not found/);
    expect(await client.read(link)).toHaveLength(1);
    await Promise.all([client.close(), other.close()]);
  });

  it.each([
    ["free", "text", false],
    ["limited", "text", true],
    ["ofserver", "text", true],
    ["lifted", "text", false],
    ["searched", "text", true],
  ])("of the group %s: %s is cut: %s", async (group, name, isCut) => {
    const client = await connect(era, group);
    const args = { size: 5000 };
    const result = await (group === "searched"
      ? client.call("call_tool", { name, arguments: args })
      : client.call(name, args));
    expect(linkIn(result) !== "undefined").toBe(isCut);
    if (!isCut) expect(blocksOf(result)).toHaveLength(1);
    await client.close();
  });
});

describe("RG-3 through the API", () => {
  it("a caller reads the rest, and no other", async () => {
    const { token } = await (await clientOf(hub)).tokens.create({ name: "other", role: "admin", for: "other" });
    const post = (path: string, body: object, bearer: string) =>
      http(`${hub.url}/api/v1/groups/limited${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const owner = await tokenOf(home);
    const called = await post("/tools/text/call", { arguments: { size: 10_000 } }, owner);
    const uri = linkIn(JSON.parse(called.body));
    expect((await post("/resources/read", { uri }, token)).status).toBe(404);
    const { status, body } = await post("/resources/read", { uri }, owner);
    expect([status, JSON.parse(body).contents]).toMatchObject([200, [{ mimeType: "text/plain" }]]);
  });
});
