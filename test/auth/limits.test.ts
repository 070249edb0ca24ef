// Limits of callers with credentials, over each transport, and the bridge of the owner, which has none.

import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { WebSocket } from "ws";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { HubClient } from "../../hub/src/api/client/client.ts";
import { clientOf, tokenOf } from "../support/client.ts";
import { BIN, fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { answerOf, http, modern } from "../support/rpc.ts";

let home: Home;
let hub: RunningHub;
let client: HubClient;

beforeAll(async () => {
  home = await makeHome({ echo: fixture("echo") });
  // A bucket that does not fill up during a test.
  const limits = { requests_per_second: 0.1, requests_burst: 3, max_requests: 2 };
  await writeFile(join(home.dir, "config/hub.json"), JSON.stringify({ auth: { mcp: "required", limits } }));
  hub = await startHub(home);
  client = await clientOf(hub);
});

afterAll(async () => {
  await hub?.stop();
  await home?.remove();
});

let made = 0;

async function makeHeaders() {
  const { token } = await client.tokens.create({ name: `token ${++made}` });
  return { authorization: `Bearer ${token}` };
}

async function metrics() {
  const headers = { authorization: `Bearer ${await tokenOf(home)}` };
  return (await http(`${hub.url}/metrics`, { method: "GET", headers })).body;
}

describe("AU-7 the limits of a token", () => {
  it("AU-7 answer 429 with Retry-After, and other tokens go on", async () => {
    const [busy, other] = [await makeHeaders(), await makeHeaders()];
    const list = (headers: Record<string, string>) => modern(`${hub.url}/mcp`, "tools/list", {}, headers);
    const statuses = [await list(busy), await list(busy), await list(busy)].map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 200]);
    const refused = await list(busy);
    expect(refused).toMatchObject({ status: 429, headers: { "retry-after": expect.stringMatching(/^(?:9|10)$/) } });
    expect(answerOf(refused.body).error.data).toMatchObject({ code: "RATE_LIMITED", kind: "RateLimited" });
    expect((await list(other)).status).toBe(200);
    expect(await metrics()).toMatch(/^hub_requests_refused_total\{limit="requests_per_second"\} [1-9]/m);
  });

  it("AU-7 hold for the messages of a WebSocket", async () => {
    const socket = new WebSocket(`${hub.url.replace("http", "ws")}/mcp`, "mcp", { headers: await makeHeaders() });
    onTestFinished(() => socket.terminate());
    await once(socket, "open");
    const ask = async (id: number) => {
      const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, method: id === 1 ? "initialize" : "ping", params }));
      const [data] = await once(socket, "message");
      return JSON.parse(String(data));
    };
    // The upgrade was the first request.
    const answers = [await ask(1), await ask(2), await ask(3)];
    expect(answers.map(({ error }) => error?.data.kind)).toEqual([undefined, undefined, "RateLimited"]);
  });

  it("AU-7 A28 wrong tokens of an address are limited, and counted; a right one passes", async () => {
    const right = await makeHeaders();
    const list = (headers: Record<string, string>) => modern(`${hub.url}/mcp`, "tools/list", {}, headers);
    const wrong = { authorization: `Bearer pbt_${"x".repeat(49)}` };
    const statuses: number[] = [];
    for (let n = 0; n < 11; n++) statuses.push((await list(wrong)).status);
    expect(statuses).toEqual([...Array<number>(10).fill(401), 429]);
    expect((await list(wrong)).headers["retry-after"]).toMatch(/^[1-6]$/);
    expect((await list(right)).status).toBe(200);
    expect(await metrics()).toMatch(/^hub_requests_refused_total\{limit="wrong_credentials"\} 2$/m);
  });

  it("AU-7 do not concern the owner, whose programs need no token over stdio", async () => {
    const program = new Client({ name: "test", version: "1" });
    onTestFinished(() => program.close());
    const env = { ...home.env };
    await program.connect(
      new StdioClientTransport({ command: process.execPath, args: [BIN, "stdio"], env, stderr: "ignore" }),
    );
    for (let round = 0; round < 5; round++) {
      const { content } = await program.callTool({ name: "echo", arguments: { text: `${round}` } });
      expect(content).toEqual([{ type: "text", text: String(round) }]);
    }
  });
});

describe("AU-7 the limit of an address", () => {
  it("AU-7 is for all callers of the address together, except for the owner", async () => {
    const other = await makeHome({ echo: fixture("echo") });
    onTestFinished(() => other.remove());
    const limits = { address_requests_per_second: 0.1, address_requests_burst: 4 };
    await writeFile(join(other.dir, "config/hub.json"), JSON.stringify({ auth: { limits } }));
    const running = await startHub(other);
    onTestFinished(async () => void (await running.stop()));
    const owner = { authorization: `Bearer ${await tokenOf(other)}` };
    const { token } = await (await clientOf(running)).tokens.create({ name: "ci" });
    const list = (headers: Record<string, string>) => modern(`${running.url}/mcp`, "tools/list", {}, headers);
    const callers = [{}, { authorization: `Bearer ${token}` }, {}, {}, {}, { authorization: `Bearer ${token}` }, owner];
    const statuses: number[] = [];
    for (const headers of callers) statuses.push((await list(headers)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 429, 429, 200]);
    const { body } = await http(`${running.url}/metrics`, { method: "GET", headers: owner });
    expect(body).toContain('hub_requests_refused_total{limit="address_requests_per_second"} 2');
  });
});
