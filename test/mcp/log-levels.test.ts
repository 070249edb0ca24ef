// Log messages of a legacy server that several clients in several groups share: it has one level, each client its own.

import { afterAll, beforeAll, expect, it } from "vitest";
import { tokenOf } from "../support/client.ts";
import { fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { connect, http, modern, post } from "../support/rpc.ts";

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

/** The log messages before a call's reply, and the reply: the server's level. */
function read(body: string) {
  // The first event of a resumable stream has no data.
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

it("GR-7 the server gets the lowest level of all groups, and each session its own messages", async () => {
  const [one, two] = [await client("one", "talk"), await client("two", "it__talk")];
  await one.want("error");
  expect((await one.talk()).level).toBe("error");
  await two.want("info");
  expect((await two.talk()).level).toBe("info");
  // The last level is not the lowest.
  await one.want("critical");
  expect(await one.talk()).toEqual({ level: "info", logs: ["critical", "alert", "emergency"] });
  expect((await two.talk()).logs).toEqual(["info", "notice", "warning", "error", "critical", "alert", "emergency"]);
  // An ended session no longer counts.
  await two.end();
  await expect.poll(async () => (await one.talk()).level).toBe("critical");
  await one.end();
});

it("GR-7 the level of a modern request counts too, and only that request gets its messages", async () => {
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

it("GR-7 a server that starts later gets the levels of existing sessions", async () => {
  const token = await tokenOf(home);
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const early = await client("default", "late__talk");
  await early.want("alert");
  const added = { name: "late", ...fixture("logs") };
  expect((await http(`${hub.url}/api/v1/servers`, { headers, body: JSON.stringify(added) })).status).toBe(201);
  await expect.poll(() => early.talk()).toEqual({ level: "alert", logs: ["alert", "emergency"] });
  await early.end();
  await http(`${hub.url}/api/v1/servers/late`, { method: "DELETE", headers });
});

it("GR-7 a server that was removed and added again gets the level again", async () => {
  const token = await tokenOf(home);
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const add = () =>
    http(`${hub.url}/api/v1/servers`, { headers, body: JSON.stringify({ name: "guest", ...fixture("logs") }) });
  const guest = `${hub.url}/api/v1/servers/guest`;
  const talk = async () => {
    await expect.poll(async () => (await http(guest, { method: "GET", headers })).body).toContain('"status":"running"');
    const _meta = { "io.modelcontextprotocol/logLevel": "alert" };
    return read((await modern(`${hub.url}/mcp`, "tools/call", { name: "guest__talk", _meta })).body);
  };
  expect((await add()).status).toBe(201);
  expect(await talk()).toEqual({ level: "alert", logs: ["alert", "emergency"] });
  expect((await http(guest, { method: "DELETE", headers })).status).toBe(204);
  expect((await add()).status).toBe(201);
  expect(await talk()).toEqual({ level: "alert", logs: ["alert", "emergency"] });
});
