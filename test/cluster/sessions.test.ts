// Legacy sessions behind a load balancer that knows none of them: each request reaches another hub.

import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { connectAsked } from "../support/asked-clients.ts";
import { fixture } from "../support/hub.ts";
import { Postgres, POSTGRES_PROGRAMS } from "../support/postgres.ts";
import { Cluster, type Replica } from "../support/replicas.ts";
import { RoundRobin } from "../support/round-robin.ts";
import { answerOf, connect, http, post } from "../support/rpc.ts";

const NAMES = ["one", "two", "three"] as const;
/** By default the SDK gives up reopening the GET stream after two attempts. */
const PATIENT = {
  initialReconnectionDelay: 50,
  maxReconnectionDelay: 1000,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 100,
};

describe.skipIf(POSTGRES_PROGRAMS === undefined)("SC-3 legacy sessions at any hub", () => {
  let postgres: Postgres;
  let cluster: Cluster;
  const hubs = new Map<string, Replica>();

  beforeAll(async () => {
    postgres = await Postgres.start();
    cluster = await Cluster.open(postgres);
    const started = await Promise.all(NAMES.map((name) => cluster.start(name)));
    NAMES.forEach((name, index) => hubs.set(name, started[index] ?? expect.unreachable()));
    const { client } = hub("one");
    await client.servers.create({ name: "trial", ...fixture("trial") });
    await client.servers.create({ name: "asks", ...fixture("asks-legacy") });
    await client.servers.create({ name: "watched", ...fixture("watched", "legacy") });
    await Promise.all(started.map(ready));
  });

  afterAll(async () => {
    await cluster.close();
    await postgres.stop();
  });

  const hub = (name: string): Replica => hubs.get(name) ?? expect.unreachable();
  const ownerIn = (session = "") => session.split("-")[0] ?? "";

  async function ready({ client }: Replica): Promise<void> {
    const up = async () => (await client.servers.list()).filter(({ status }) => status === "running").length === 3;
    await vi.waitUntil(up, { timeout: 60_000, interval: 20 });
  }

  async function balanced(): Promise<RoundRobin> {
    const proxy = await RoundRobin.open(...NAMES.map((name) => hub(name).hub.url));
    onTestFinished(() => proxy.close());
    return proxy;
  }

  async function connectSdk(url: string, client = new Client({ name: "ts", version: "1" })) {
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { reconnectionOptions: PATIENT });
    onTestFinished(() => client.close());
    await client.connect(transport);
    const echo = async (message: string) => {
      const { content } = await client.callTool({ name: "trial__echo", arguments: { message } });
      expect(content).toMatchObject([{ text: message }]);
    };
    return { client, transport, echo, session: transport.sessionId ?? "" };
  }

  /** Kills the hub of a session, and starts it again when the test is over. */
  async function killOwner(session: string): Promise<string> {
    const name = ownerIn(session);
    const { hub: killed } = hub(name);
    await killed.kill();
    onTestFinished(async () => {
      hubs.set(name, await cluster.startIn(killed.home));
      await ready(hub(name));
    });
    return name;
  }

  it("clients of the SDK are served by all of them, and no session is unknown", async () => {
    const proxy = await balanced();
    const clients = await Promise.all(Array.from({ length: 10 }, () => connectSdk(proxy.url)));
    expect(new Set(clients.map(({ session }) => ownerIn(session))).size).toBeGreaterThan(1);
    for (let round = 0; round < 10; round++) {
      await Promise.all(clients.map(({ echo }, index) => echo(`${round} ${index}`)));
    }
    await Promise.all(clients.map(({ transport }) => transport.terminateSession()));
    const bad = proxy.passed.filter(({ status }) => status >= 400);
    expect(bad).toEqual([]);
    const hops = proxy.passed.filter(({ session, target }) => session && hub(ownerIn(session)).hub.url !== target);
    expect(hops.length).toBeGreaterThan(clients.length * 5);
    await expect.poll(() => cluster.query("select id from plugboard.session where record like '%\"ts\"%'")).toEqual([]);
  });

  it("what a server asks is answered by way of another hub", async () => {
    const proxy = await balanced();
    const client = await connectAsked("legacy", { url: `${proxy.url}/mcp` });
    onTestFinished(() => client.close());
    for (const marker of ["a", "b", "c", "d"]) {
      expect((await client.call("asks__form", { marker })).text).toContain(`you asked: ${marker}`);
      expect((await client.call("asks__sampling", { marker })).text).toContain("sampled");
    }
    expect(proxy.passed.filter(({ status }) => status >= 400)).toEqual([]);
  });

  it("a stream at another hub gets what the session is told, and continues where it was cut", async () => {
    const { headers } = await connect(`${hub("one").hub.url}/mcp`);
    const { url } = hub("two").hub;
    const listen = async (lastEventId?: string) => {
      const stream = await openStream(`${url}/mcp`, {
        ...headers,
        accept: "text/event-stream",
        ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
      });
      onTestFinished(() => void stream.close());
      return stream;
    };
    const first = await listen();
    await hub("one").client.servers.disable("trial");
    await expect.poll(() => first.text()).toContain("tools/list_changed");
    const lastId = /^id: ?(.+)$/m.exec(first.text())?.[1] ?? expect.unreachable();
    first.close();
    await sleep(0);
    await hub("one").client.servers.enable("trial");
    await Promise.all([...hubs.values()].map(ready));
    const second = await listen(lastId);
    await expect.poll(() => second.text()).toContain("tools/list_changed");
  });

  it("a session of a hub that is killed is adopted: settings stay, and lists are said to have changed", async () => {
    const proxy = await balanced();
    const { client, transport, echo, session } = await connectSdk(proxy.url);
    const [updates, changes]: [string[], number[]] = [[], []];
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updates.push(params.uri));
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes.push(1));
    await echo("before");
    const { resources } = await client.listResources();
    const uri = resources.find(({ name }) => name.endsWith("one"))?.uri ?? "";
    await client.subscribeResource({ uri });
    const before = changes.length;
    const name = await killOwner(session);
    const began = performance.now();
    await echo("after");
    print(`a session of a killed hub answers again after ${Math.round(performance.now() - began)} ms`);
    expect(transport.sessionId).toBe(session);
    await expect.poll(() => changes.length, { timeout: 30_000 }).toBeGreaterThan(before);
    await expect.poll(() => updates, { timeout: 30_000 }).toContain(uri);
    const [row] = await cluster.query(`select replica from plugboard.session where id = '${session}'`);
    expect(row?.["replica"]).not.toBe(name);
    for (let index = 0; index < 6; index++) await echo(String(index));
    expect(proxy.passed.filter(({ session: id, status }) => id === session && status === 404)).toEqual([]);
  });

  it("of hubs that race for 20 sessions, each session gets one owner and no client notices", async () => {
    const sessions = await Promise.all(Array.from({ length: 20 }, () => connect(`${hub("three").hub.url}/mcp`)));
    const ids = sessions.map(({ headers }) => headers["mcp-session-id"]);
    await killOwner(ids[0] ?? "");
    let number = 0;
    const ping = (name: string, id: string) =>
      post(`${hub(name).hub.url}/mcp`, { jsonrpc: "2.0", id: ++number, method: "ping" }, { "mcp-session-id": id });
    const both = ids.flatMap((id) => [ping("one", id), ping("two", id), ping("one", id), ping("two", id)]);
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual(both.map(() => 200));
    const rows = await cluster.query("select id, replica, instance from plugboard.session");
    const owners = rows.filter(({ id }) => ids.includes(String(id)));
    expect(owners).toHaveLength(20);
    expect(owners.every(({ replica }) => replica === "one" || replica === "two")).toBe(true);
    // Where it is, it is: a hub forwards to the winner.
    const again = await Promise.all(ids.flatMap((id) => [ping("one", id), ping("two", id)]));
    expect(again.every(({ status }) => status === 200)).toBe(true);
  });

  it("a hub that starts again goes on with the sessions that nobody has adopted", async () => {
    const { headers } = await connect(`${hub("two").hub.url}/mcp`);
    const session = headers["mcp-session-id"];
    const { hub: stopped } = hub("two");
    await stopped.stop();
    hubs.set("two", await cluster.startIn(stopped.home));
    await ready(hub("two"));
    const answer = await post(`${hub("one").hub.url}/mcp`, { jsonrpc: "2.0", id: 1, method: "ping" }, headers);
    expect([answer.status, answerOf(answer.body)]).toMatchObject([200, { result: {} }]);
    const gone = await http(`${hub("three").hub.url}/mcp`, {
      method: "DELETE",
      headers: { "mcp-session-id": session },
    });
    expect(gone.status).toBe(204);
    await expect
      .poll(
        async () =>
          (await post(`${hub("one").hub.url}/mcp`, { jsonrpc: "2.0", id: 1, method: "ping" }, headers)).status,
      )
      .toBe(404);
  });

  it("a session is unknown to everyone but its own caller, at its owner, elsewhere and after the owner's death", async () => {
    const { client } = hub("one");
    const make = async (name: string) => `Bearer ${(await client.tokens.create({ name, groups: ["default"] })).token}`;
    const [mine, theirs] = [await make("mine"), await make("theirs")];
    const { headers } = await connect(`${hub("three").hub.url}/mcp`, undefined, undefined, {}, mine);
    const ping = async (name: string, authorization?: string, session = headers["mcp-session-id"]) => {
      const given: Record<string, string> = { "mcp-session-id": session };
      if (authorization !== undefined) given["authorization"] = authorization;
      const { status, body } = await post(`${hub(name).hub.url}/mcp`, { jsonrpc: "2.0", id: 1, method: "ping" }, given);
      return `${status} ${body}`;
    };
    const unknown = await ping("three", mine, `three-${"0".repeat(8)}`);
    expect(unknown).toMatch(/^404 /);
    for (const name of NAMES) {
      await expect.poll(() => ping(name, mine)).toMatch(/^200 /);
      expect([await ping(name, theirs), await ping(name)]).toEqual([unknown, unknown]);
    }
    await killOwner("three-");
    expect([await ping("one", theirs), await ping("two")]).toEqual([unknown, unknown]);
    expect(await ping("two", mine)).toMatch(/^200 /);
    expect(await ping("one", theirs)).toBe(unknown);
    expect(await ping("one", mine)).toMatch(/^200 /);
  });

  it("the port for other hubs refuses what none of them has signed", async () => {
    const [row] = await cluster.query("select peer from plugboard.replica where name = 'one'");
    const { headers } = await connect(`${hub("one").hub.url}/mcp`);
    for (const given of [{}, { "plugboard-peer": "x.y" }]) {
      const answer = await post(
        `${String(row?.["peer"])}/mcp`,
        { jsonrpc: "2.0", id: 1, method: "ping" },
        {
          ...headers,
          ...given,
        },
      );
      expect(answer.status).toBe(401);
    }
  });

  it("prints what a forwarded call costs", async () => {
    const { headers } = await connect(`${hub("one").hub.url}/mcp`);
    const timed = async (name: string) => {
      const times: number[] = [];
      for (let index = 0; index < 300; index++) {
        const began = performance.now();
        const { status } = await post(
          `${hub(name).hub.url}/mcp`,
          {
            jsonrpc: "2.0",
            id: index,
            method: "tools/call",
            params: { name: "trial__echo", arguments: { message: "x" } },
          },
          headers,
        );
        expect(status).toBe(200);
        if (index >= 50) times.push(performance.now() - began);
      }
      return times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0;
    };
    const [own, forwarded] = [await timed("one"), await timed("two")];
    print(
      `a call at its owner ${own.toFixed(2)} ms, forwarded ${forwarded.toFixed(2)} ms (p50): ${(forwarded - own).toFixed(2)} ms more`,
    );
  });
});

function print(line: string): void {
  process.stdout.write(`SC-3 ${line}\n`);
}

/** A GET that stays open. */
async function openStream(url: string, headers: Record<string, string>) {
  let text = "";
  const outgoing = request(url, { headers, agent: false });
  outgoing.on("error", () => undefined);
  outgoing.end();
  const status = await new Promise<number>((resolve) => {
    outgoing.on("response", (response) => {
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.on("error", () => undefined);
      resolve(response.statusCode ?? 0);
    });
  });
  expect(status).toBe(200);
  return { text: () => text, close: () => outgoing.destroy() };
}
