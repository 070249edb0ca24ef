// Clients that open sessions and streams and never return: how many are allowed, their cost, and their release. Expiry is tested
// with a fake clock, memory with the built hub.

import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect as connectTcp, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { HttpSession, HttpSessions } from "../../hub/src/protocol/serve/http-session.ts";
import { fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { collectGarbage, residentBytes } from "../support/memory.ts";
import { connect, http, post } from "../support/rpc.ts";

const HELLO = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "gone", version: "1" } },
});

describe("the hub", () => {
  const STREAMS = 1000;
  let home: Home;
  let hub: RunningHub;
  let url: string;
  const agent = new Agent({ keepAlive: true, maxSockets: 10 });

  beforeAll(async () => {
    home = await makeHome(
      { echo: fixture("echo") },
      { streams: { servers: ["echo"] }, abandoned: { servers: ["echo"] }, full: { servers: ["echo"] } },
    );
    hub = await startHub(home);
    url = `${hub.url}/mcp`;
    // Load lazy modules before memory is measured.
    await Promise.all((await open(50)).map((id) => openStream(id).then((socket) => socket.destroy())));
  });

  afterAll(async () => {
    agent.destroy();
    await hub?.stop();
    await home?.remove();
  });

  /** Opens a number of sessions and returns their ids. */
  async function open(count: number): Promise<string[]> {
    const ids: string[] = [];
    let left = count;
    const work = async () => {
      while (left-- > 0) ids.push(await initialize());
    };
    await Promise.all(Array.from({ length: 10 }, work));
    return ids;
  }

  function initialize(): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
      const outgoing = request(url, { method: "POST", headers, agent }, (response) => {
        response.resume().on("end", () => resolve(String(response.headers["mcp-session-id"])));
      });
      outgoing.on("error", reject);
      outgoing.end(HELLO);
    });
  }

  const isThere = async (id: string) =>
    (await post(url, { jsonrpc: "2.0", id: 1, method: "ping" }, { "mcp-session-id": id })).status === 200;

  it("T22 a thousand open streams use less than 40 KB each, and release it", async () => {
    url = `${hub.url}/mcp/streams`; // each group has its own limit of a thousand
    const before = residentBytes(hub.process.pid).now;
    const ids = await open(STREAMS);
    const sockets = await Promise.all(ids.map((id) => openStream(id)));
    const each = (residentBytes(hub.process.pid).now - before) / STREAMS;
    process.stderr.write(`${STREAMS} open streams: ${(each / 1000).toFixed(1)} KB each, with their sessions\n`);
    expect(each).toBeLessThan(40_000);
    expect(await isThere(ids[0] ?? "")).toBe(true);
    for (const socket of sockets) socket.destroy();
    const again = await Promise.all(ids.slice(0, 100).map((id) => openAgain(id)));
    for (const socket of again) socket.destroy();
  });

  it("T22 SE-5 of 3,000 abandoned sessions 1,000 remain: the newest and every one that was used", async () => {
    url = `${hub.url}/mcp/abandoned`;
    const used = await connect(url);
    await open(1000);
    const before = residentBytes(hub.process.pid).now;
    const ids = await open(3000);
    const grown = residentBytes(hub.process.pid).now - before;
    process.stderr.write(`3000 abandoned sessions: ${(grown / 1e6).toFixed(1)} MB more\n`);
    expect((await used.request("ping")).result).toEqual({});
    const there = await Promise.all([0, 1000, 1990, 2999].map((at) => isThere(ids[at] ?? "")));
    expect(there).toEqual([false, false, false, true]);
    // A thousand sessions exist: new ones replace old ones.
    expect(grown).toBeLessThan(30_000_000);
  });

  it("T22 SE-5 if all sessions are in use, the next is refused with Retry-After", async () => {
    url = `${hub.url}/mcp/full`;
    const ids = await open(1000);
    for (const id of ids) await isThere(id);
    const refused = await post(url, HELLO);
    expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "60"]);
    expect(refused.body).toContain("Too many sessions");
    const [first = ""] = ids;
    expect(await isThere(first)).toBe(true);
    await http(url, { method: "DELETE", headers: { "mcp-session-id": first } });
    expect((await post(url, HELLO)).status).toBe(200);
  });

  async function openStream(id: string): Promise<Socket> {
    const socket = connectTcp(Number(new URL(url).port), "127.0.0.1");
    socket.write(
      `GET ${new URL(url).pathname} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nMcp-Session-Id: ${id}\r\n\r\n`,
    );
    const [head] = await once(socket, "data");
    if (!String(head).startsWith("HTTP/1.1 200 ")) throw new Error(String(head).slice(0, 80));
    return socket;
  }

  /** A session has one stream, which can be opened again once the hub has noticed the end of the last one. */
  async function openAgain(id: string): Promise<Socket> {
    for (;;) {
      const socket = await openStream(id).catch((error: unknown) => {
        if (String(error).includes("409")) return undefined;
        throw error;
      });
      if (socket !== undefined) return socket;
    }
  }
});

describe("a thousand idle sessions", () => {
  afterEach(() => void vi.useRealTimers());

  it("T22 CL-7 expire after an hour and leave nothing behind", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"] });
    let ended = 0;
    const sessions = new HttpSessions({ onEnd: () => void ended++ });
    const refs = Array.from({ length: 1000 }, () => {
      const session = new HttpSession({ version: "2025-11-25", clientInfo: {}, capabilities: {} });
      sessions.add(session);
      return new WeakRef(session);
    });
    const left = async () => {
      // A reference keeps its target alive until the next turn.
      await setImmediate();
      collectGarbage();
      return refs.filter((ref) => ref.deref() !== undefined).length;
    };
    expect(await left()).toBe(1000);
    vi.advanceTimersByTime(2 * 60 * 60 * 1000);
    expect(ended).toBe(1000);
    expect(await left()).toBe(0);
    sessions.close();
  });
});
