// Log messages of a legacy server that several clients share, in several groups: it has one level, each of them its own.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { connect, http, modern, post } from "../support/rpc.ts";

const WAIT = { timeout: 20_000 };

let home: Home;
let hub: RunningHub;

beforeAll(async () => {
  const groups = { one: { servers: ["it"] }, two: { servers: ["it", "other"] } };
  home = await makeHome({ it: fixture("logs"), other: fixture("logs"), third: fixture("logs") }, groups);
  hub = await startHub(home);
});

afterAll(async () => {
  await hub?.stop();
  await home?.remove();
});

/** What a call heard before its answer, and the answer: the level that the server has. */
function read(body: string) {
  // The first event of a stream that can be taken up again has no data.
  const lines = body.split("\n").flatMap((line) => /^data: (\S.*)$/.exec(line)?.[1] ?? []);
  const messages = (lines.length === 0 ? [body] : lines).map((line) => JSON.parse(line));
  return {
    logs: messages.flatMap(({ params }) => (params === undefined ? [] : [params.level])),
    level: messages.at(-1).result.content[0].text,
  };
}

async function client(group: string, tool: string) {
  const url = `${hub.url}/mcp/${group}`;
  const { headers, request } = await connect(url);
  const call = { jsonrpc: "2.0", id: "call", method: "tools/call", params: { name: tool } };
  return {
    want: (level: string) => request("logging/setLevel", { level }),
    talk: async () => read((await post(url, call, headers)).body),
    end: () => http(url, { method: "DELETE", headers }),
  };
}

it("GR-7 the server is told the lowest level that anybody wants in any group, and each hears its own", async () => {
  const [one, two] = [await client("one", "talk"), await client("two", "it__talk")];
  await one.want("error");
  expect((await one.talk()).level).toBe("error");
  await two.want("info");
  expect((await two.talk()).level).toBe("info");
  // The last word is not the lowest.
  await one.want("critical");
  expect(await one.talk()).toEqual({ level: "info", logs: ["critical", "alert", "emergency"] });
  expect((await two.talk()).logs).toEqual(["info", "notice", "warning", "error", "critical", "alert", "emergency"]);
  // Who is gone wants nothing any more.
  await two.end();
  await vi.waitFor(async () => expect((await one.talk()).level).toBe("critical"), WAIT);
  await one.end();
});

it("GR-7 so is what a modern client wants with one request, and only that request hears it", async () => {
  const url = `${hub.url}/mcp`;
  const talk = async (level?: string) => {
    const _meta = level === undefined ? {} : { "io.modelcontextprotocol/logLevel": level };
    return read((await modern(url, "tools/call", { name: "third__talk", _meta })).body);
  };
  expect(await talk("alert")).toEqual({ level: "alert", logs: ["alert", "emergency"] });
  expect((await talk("debug")).logs).toHaveLength(8);
  expect(await talk("alert")).toEqual({ level: "debug", logs: ["alert", "emergency"] });
  expect(await talk("nonsense")).toMatchObject({ level: "debug" });
  expect((await talk()).logs).toEqual([]);
});

it("GR-7 a server that comes later is told what sessions have said before", async () => {
  const token = (await readFile(join(home.dir, "data/token"), "utf8")).trim();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const early = await client("default", "late__talk");
  await early.want("alert");
  const added = { name: "late", ...fixture("logs") };
  expect((await http(`${hub.url}/api/v1/servers`, { headers, body: JSON.stringify(added) })).status).toBe(201);
  await vi.waitFor(
    async () => expect(await early.talk()).toEqual({ level: "alert", logs: ["alert", "emergency"] }),
    WAIT,
  );
  await early.end();
  await http(`${hub.url}/api/v1/servers/late`, { method: "DELETE", headers });
});

it("GR-7 a server that was removed and came back is told anew", async () => {
  const token = (await readFile(join(home.dir, "data/token"), "utf8")).trim();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const add = () =>
    http(`${hub.url}/api/v1/servers`, { headers, body: JSON.stringify({ name: "guest", ...fixture("logs") }) });
  const guest = `${hub.url}/api/v1/servers/guest`;
  const talk = async () => {
    await vi.waitFor(
      async () => expect((await http(guest, { method: "GET", headers })).body).toContain('"status":"running"'),
      WAIT,
    );
    const _meta = { "io.modelcontextprotocol/logLevel": "alert" };
    return read((await modern(`${hub.url}/mcp`, "tools/call", { name: "guest__talk", _meta })).body);
  };
  expect((await add()).status).toBe(201);
  expect(await talk()).toEqual({ level: "alert", logs: ["alert", "emergency"] });
  expect((await http(guest, { method: "DELETE", headers })).status).toBe(204);
  expect((await add()).status).toBe(201);
  expect(await talk()).toEqual({ level: "alert", logs: ["alert", "emergency"] });
});
