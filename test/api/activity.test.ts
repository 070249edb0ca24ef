// Calls that are under way and clients that are connected: their lists, their events, cancelling and ending them.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ActiveCall } from "../../hub/src/api/schemas/call.ts";
import type { Session } from "../../hub/src/api/schemas/session.ts";
import { openManaged, type ManagedHub } from "../support/api.ts";
import { fixture } from "../support/hub.ts";
import { connect, modern } from "../support/rpc.ts";
import { openEventReader, type EventReader } from "./event-reader.ts";

const SECRET = "planted-in-activity-41d8";

let managed: ManagedHub;
let events: EventReader;
/** Of the MCP endpoints. */
let mcp: string;
const get = async (path: string) => (await managed.ask(path)).json;
const remove = async (path: string) => (await managed.ask(path, { method: "DELETE" })).status;
const next = (name: string) => events.next(({ event }) => event === name);
const client = () => connect(mcp);

beforeAll(async () => {
  const env = { API_KEY: SECRET };
  managed = await openManaged({ it: { ...fixture("echo"), env } }, { groups: { desk: { servers: ["it"] } } });
  mcp = `${await managed.hub.listen({ host: "127.0.0.1", port: 0 })}/mcp`;
  await managed.hub.start();
  events = await openEventReader(managed, {
    query: "?topics=call,session,config",
    headers: {},
    onLine: (line) => expect(line).not.toContain(SECRET),
  });
});
afterAll(async () => {
  events.close();
  expect(await managed.end()).toEqual([]);
});

describe("MG-1 calls that are under way", () => {
  it("MG-3 are announced, listed, and cancelled: the server is told and the caller gets an error", async () => {
    const { request } = await client();
    const { session } = (await next("session.opened")).data;
    const answer = request("tools/call", { name: "hang" });
    const { data: started } = await next("call.started");
    const facts = { server: "it", tool: "hang", group: "default", client: "test", session: session.id };
    expect(started).toEqual({ id: expect.any(String), at: expect.any(String), ...facts });
    const active: ActiveCall[] = await get("/calls/active");
    expect(active).toEqual([{ id: started.id, started_at: started.at, ...facts }]);
    expect(await get("/sessions")).toContainEqual({
      ...session,
      calls: 1,
      in_flight: 1,
      last_call_at: expect.any(String),
    });

    expect(await remove(`/calls/active/${started.id}`)).toBe(204);
    expect(await answer).toMatchObject({
      result: { isError: true, _meta: { "io.plugboard/error": { kind: "Cancelled" } } },
    });
    expect((await next("call.finished")).data).toMatchObject({
      ...facts,
      id: started.id,
      outcome: "cancelled",
      message: expect.stringContaining("through the management API"),
    });
    expect(await get("/calls/active")).toEqual([]);
    expect((await get("/calls?limit=1")).items).toMatchObject([{ tool_name: "hang", outcome: "cancelled" }]);
    const { result } = await request("tools/call", { name: "heard" });
    expect(result.content[0].text).toContain("notifications/cancelled");
  });

  it("MG-1 of the API can be cancelled, too", async () => {
    const answer = managed.ask("/servers/it/tools/hang/call", { method: "POST", body: {} });
    const { data } = await events.next(({ event, data: { tool } }) => event === "call.started" && tool === "hang");
    expect(data).toMatchObject({ group: "@api", client: "api", session: null });
    expect(await remove(`/calls/active/${data.id}`)).toBe(204);
    expect((await answer).json).toMatchObject({ kind: "Cancelled" });
  });

  it("MG-1 an unknown one is not found", async () => {
    expect(await remove("/calls/active/none")).toBe(404);
  });

  it("MG-3 SE-1 the event of a failed call has the tool's reason, without secrets", async () => {
    await managed.client.callTool({ server: "it", tool: "fail" });
    const isFailed = ({ event, data }: { event: string; data: { tool: string } }) =>
      event === "call.finished" && data.tool === "fail";
    expect((await events.next(isFailed)).data).toMatchObject({ outcome: "tool_error", message: "it failed" });
    const refused = await managed.ask("/servers/it/tools/none/call", { method: "POST", body: {} });
    expect(refused.status).toBe(404);
    const { data } = await events.next(({ event, data: { tool } }) => event === "call.finished" && tool === "none");
    expect(data).toMatchObject({ id: null, outcome: "refused", message: "Tool not found" });
  });
});

describe("MG-1 connected clients", () => {
  it("MG-3 are announced and listed, and can be disconnected", async () => {
    const { send, headers } = await connect(`${mcp}/desk`);
    const { session } = (await next("session.opened")).data;
    expect(session).toEqual({
      id: expect.stringMatching(/^[\w-]{12}$/),
      client: { name: "test", version: "1" },
      transport: "http",
      group: "desk",
      protocol_version: "2025-11-25",
      since: expect.any(String),
      last_call_at: null,
      calls: 0,
      in_flight: 0,
      subscriptions: 0,
    });
    expect(headers["mcp-session-id"]).not.toContain(session.id);
    expect(await get("/sessions")).toContainEqual(session);

    expect(await remove(`/sessions/${session.id}`)).toBe(204);
    expect((await next("session.closed")).data).toEqual({ id: session.id });
    expect((await send("ping")).status).toBe(404);
    expect(await remove(`/sessions/${session.id}`)).toBe(404);
  });

  it("MG-1 a modern client, which has no session, is listed after its first call", async () => {
    await modern(`${mcp}/desk`, "tools/call", { name: "pid" });
    await modern(`${mcp}/desk`, "tools/call", { name: "pid" });
    const sessions: Session[] = await get("/sessions");
    const found = sessions.find(({ transport }) => transport === "stateless");
    expect(found).toMatchObject({ client: { name: "test", version: "1" }, group: "desk", calls: 2 });
    expect(await remove(`/sessions/${found?.id ?? ""}`)).toBe(400);
  });
});

describe("MG-3 changes of the config", () => {
  it("name the request that caused them", async () => {
    const headers = { "x-request-id": "my-request" };
    await managed.ask("/groups/more", { method: "PUT", body: { servers: ["it"] }, headers });
    expect((await next("config.reloaded")).data).toMatchObject({ request_id: "my-request" });
    expect((await next("group.changed")).data).toEqual({ groups: ["more"] });
    await managed.hub.configuration.reload();
    expect((await next("config.reloaded")).data).toMatchObject({ request_id: null });
  });

  it("a stored and a deleted secret are announced by their name", async () => {
    await managed.client.secrets.set("token", SECRET);
    expect((await next("secret.changed")).data).toEqual({ name: "token" });
    await managed.client.secrets.delete("token");
    expect((await next("secret.changed")).data).toEqual({ name: "token" });
  });
});
