// Live events through a real socket: their content, reconnecting, and clients that do not read.

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { ReceivedEvent } from "../../hub/src/api/client/received-events.ts";
import { formsOf, openManaged, type ManagedHub } from "../support/api.ts";
import { failing, fixture, type Servers } from "../support/hub.ts";
import { http } from "../support/rpc.ts";
import { openEventReader, type EventReader, type SentEvent } from "./event-reader.ts";

const SECRET = "planted-in-events-8b1c";

const opened: ManagedHub[] = [];
const readers: (() => void)[] = [];
/** The text of all streams of a test. */
let received = "";

async function open(servers: Servers = {}, options: Parameters<typeof openManaged>[1] = {}): Promise<ManagedHub> {
  const managed = await openManaged(servers, options);
  opened.push(managed);
  return managed;
}

afterEach(async () => {
  vi.useRealTimers();
  for (const close of readers.splice(0)) close();
  for (const managed of opened.splice(0)) expect(await managed.end()).toEqual([]);
  for (const form of formsOf(SECRET)) expect(received).not.toContain(form);
  received = "";
});

async function read(managed: ManagedHub, query = "", headers: Record<string, string> = {}): Promise<EventReader> {
  const onLine = (line: string) => void (received += `${line}\n`);
  const reader = await openEventReader(managed, { query, headers, onLine });
  readers.push(() => reader.close());
  return reader;
}

const isStatus = (status: string) => (event: SentEvent) =>
  event.event === "server.status" && event.data.status === status;

describe("MG-3 live events", () => {
  it("LC-10 report each stage of a start with the elapsed time", async () => {
    const managed = await open({ it: fixture("slow-start", "50") });
    const reader = await read(managed, "?topics=server");
    const started = managed.hub.start();
    const stages: string[] = [];
    for (;;) {
      const { data } = await reader.next();
      expect(data).toMatchObject({ server: "it", elapsed_ms: expect.any(Number), since: expect.any(String) });
      if (data.status !== "starting") {
        expect(data).toMatchObject({ status: "running", stage: null, error: null, tool_count: expect.any(Number) });
        expect(data.elapsed_ms).toBeGreaterThanOrEqual(45);
        break;
      }
      stages.push(data.stage);
    }
    expect(stages).toEqual(["resolving", "launching", "handshake", "listing"]);
    expect([reader.status, reader.lines[0]]).toEqual([200, "retry: 2000"]);
    await started;
  });

  it("LC-3 SE-1 report a failed start with the reason, without secrets", async () => {
    const managed = await open({
      it: { ...failing("API_KEY"), env: { API_KEY: SECRET } },
    });
    const reader = await read(managed);
    await managed.hub.start();
    const { data } = await reader.next(isStatus("error"));
    expect(data.error).toMatchObject({ kind: "ProcessSpawnFailed", detail: expect.stringContaining("***") });
  });

  it("SE-1 report each line of stderr, without secrets", async () => {
    const managed = await open({
      it: { ...failing("API_KEY"), env: { API_KEY: SECRET } },
      other: fixture("slow-start", "0"),
    });
    const reader = await read(managed, "?topics=log&server=it");
    await managed.hub.start();
    expect((await reader.next()).data).toEqual({
      server: "it",
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      source: "stderr",
      level: null,
      logger: null,
      text: "fatal: no configuration found",
    });
    expect(await reader.next()).toMatchObject({ event: "server.log", data: { server: "it", text: "***" } });
  });

  it("report a call with server, tool and outcome, without parameters and result", async () => {
    const managed = await open({ it: fixture("echo") });
    await managed.hub.start();
    const reader = await read(managed, "?topics=call.finished");
    await managed.client.callTool({ server: "it", tool: "echo", arguments: { text: SECRET } });
    await managed.client.callTool({ server: "it", tool: "fail" });
    const { data } = await reader.next();
    expect(data).toEqual({
      id: expect.any(String),
      server: "it",
      tool: "echo",
      group: expect.any(String),
      client: "api",
      session: null,
      success: true,
      outcome: "ok",
      duration_ms: expect.any(Number),
      message: null,
      error: null,
    });
    expect((await reader.next()).data).toMatchObject({ tool: "fail", success: false });
  });

  it("report a new tool with the new counts of each group", async () => {
    const managed = await open({ it: fixture("echo") });
    await managed.hub.start();
    const before = managed.hub.catalog.group().tools.length;
    const reader = await read(managed, "?topics=catalog");
    await managed.client.callTool({ server: "it", tool: "change", arguments: { name: "brand_new" } });
    const grown = await reader.next(({ data }) => data.groups[0].tool_count > before);
    expect(grown).toMatchObject({
      event: "catalog.changed",
      data: { groups: [{ name: "default", tool_count: before + 1, prompt_count: 1, resource_count: 1 }] },
    });
  });

  it("CF-9 report a reload with the names that changed, and a rejected config", async () => {
    const managed = await open({ it: { command: "a", env: { API_KEY: SECRET }, enabled: false } });
    const reader = await read(managed, "?topics=config");
    await managed.client.servers.create({ name: "new", command: "b", env: { API_KEY: SECRET }, enabled: false });
    expect(await reader.next()).toMatchObject({
      event: "config.reloaded",
      data: { added: ["new"], removed: [], restarted: [], changed: [], groups: false, description: "added new" },
    });
    await writeFile(join(managed.paths.config, "mcp_server.json"), `{"mcpServers": {"it": {"command": "${SECRET}`);
    await expect(managed.client.config.reload()).rejects.toMatchObject({ kind: "InvalidConfig" });
    expect(await reader.next()).toMatchObject({
      event: "config.rejected",
      data: { error: { code: "VALIDATION_ERROR", message: expect.stringContaining("line 1") } },
    });
  });
});

describe("filters", () => {
  it("topics select events", async () => {
    const managed = await open({ it: fixture("echo") });
    const reader = await read(managed, "?topics=call.finished,config.reloaded");
    await managed.hub.start();
    await managed.client.callTool({ server: "it", tool: "pid" });
    expect((await reader.next()).event).toBe("call.finished");
  });

  it("a server, by name or id, omits events about other servers, but not about the hub", async () => {
    const managed = await open({ one: fixture("echo"), two: { ...fixture("echo"), id: "second" } });
    const reader = await read(managed, "?topics=server,warning&server=second");
    await managed.hub.start();
    managed.hub.events.emit("warning", { message: "for all" });
    const events: SentEvent[] = [];
    do events.push(await reader.next());
    while (events.at(-1)?.event !== "warning");
    expect(new Set(events.map(({ data }) => data.server))).toEqual(new Set(["two", undefined]));
  });

  it.each([
    ["?topics=nothing", 400],
    ["?server=nobody", 404],
    ["?topic=server", 400],
  ])("%s is refused", async (query, status) => {
    const managed = await open();
    expect((await managed.ask(`/events${query}`)).status).toBe(status);
    expect((await managed.client.status()).event_streams).toBe(0);
  });
});

describe("a client that reconnects", () => {
  const warn = (managed: ManagedHub, from: number, to: number) => {
    for (let n = from; n <= to; n++) managed.hub.events.emit("warning", { message: String(n) });
  };

  it("gets the events that it missed, in order and once", async () => {
    const managed = await open();
    const first = await read(managed);
    warn(managed, 1, 3);
    const last = await first.next(({ data }) => data.message === "2");
    first.close();
    warn(managed, 4, 6);
    const second = await read(managed, "", { "last-event-id": last.id });
    warn(managed, 7, 7);
    const told: string[] = [];
    while (told.at(-1) !== "7") told.push((await second.next()).data.message);
    expect(told).toEqual(["3", "4", "5", "6", "7"]);
  });

  it("gets only the missed events of its filter", async () => {
    const managed = await open();
    const first = await read(managed);
    warn(managed, 1, 1);
    const { id } = await first.next();
    warn(managed, 2, 2);
    const second = await read(managed, "?topics=call", { "last-event-id": id });
    managed.hub.events.emit("call.finished", { server: "s", tool: "t", group: "g", durationMs: 1, outcome: "ok" });
    expect((await second.next()).event).toBe("call.finished");
  });

  it("gets a reset after more than a thousand events, and continues from there", async () => {
    const managed = await open();
    const first = await read(managed);
    warn(managed, 1, 1);
    const { id } = await first.next();
    first.close();
    warn(managed, 2, 1001);
    const exactly = await read(managed, "", { "last-event-id": id });
    expect((await exactly.next()).data.message).toBe("2");
    exactly.close();
    warn(managed, 1002, 1002);
    const second = await read(managed, "", { "last-event-id": id });
    const reset = await second.next();
    expect(reset.event).toBe("reset");
    warn(managed, 1003, 1003);
    const next = await second.next();
    expect([next.data.message, Number(next.id)]).toEqual(["1003", Number(reset.id) + 1]);
  });

  it.each(["7", "99999999999999999999", "-1", "abc", "1e3"])(
    "with the id %s, which was never given, too",
    async (id) => {
      const managed = await open();
      const reader = await read(managed, "", { "last-event-id": id });
      expect((await reader.next()).event).toBe("reset");
    },
  );
});

describe("streams", () => {
  it("send a comment every 15 seconds", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const managed = await open();
    const before = vi.getTimerCount();
    const reader = await read(managed);
    vi.advanceTimersByTime(15_000);
    managed.hub.events.emit("warning", { message: "after" });
    await reader.next();
    expect(reader.lines.filter((line) => line.startsWith(":"))).toEqual([": keep-alive"]);
    reader.close();
    await untilStreams(managed, 0);
    expect(vi.getTimerCount()).toBe(before);
  });

  it("T22 are limited to a hundred; another one is refused until one closes", async () => {
    const managed = await open();
    const all = await Promise.all(Array.from({ length: 100 }, () => read(managed)));
    expect((await managed.client.status()).event_streams).toBe(100);
    const refused = await managed.ask("/events");
    expect([refused.status, refused.json.code]).toEqual([429, "RATE_LIMITED"]);
    all[0]?.close();
    await untilStreams(managed, 99);
    expect((await read(managed)).status).toBe(200);
  });

  it("T21 are cut off if the client does not read; others continue", async () => {
    const managed = await open();
    const honest = await read(managed);
    const socket = await openDeaf(managed);
    await untilStreams(managed, 2);
    const message = "x".repeat(64 * 1024);
    for (let n = 0; (await managed.client.status()).event_streams === 2; n++) {
      if (n > 2000) throw new Error("It was never cut");
      managed.hub.events.emit("warning", { message });
    }
    managed.hub.events.emit("warning", { message: "still here" });
    expect(await honest.next(({ data }) => data.message === "still here")).toBeDefined();
    socket.destroy();
  });

  it("are not opened by HEAD", async () => {
    const managed = await open();
    const headers = { authorization: `Bearer ${managed.token}` };
    expect((await http(`${managed.url}/api/v1/events`, { method: "HEAD", headers })).status).toBe(405);
    expect((await http(`${managed.url}/api/v1/status`, { method: "HEAD", headers })).status).toBe(200);
    expect((await managed.client.status()).event_streams).toBe(0);
  });

  it("F42 end with hub.stopping when the hub stops", async () => {
    const managed = await open();
    const reader = await read(managed);
    managed.api.close();
    expect((await reader.next()).event).toBe("hub.stopping");
    await reader.ended;
  });
});

async function untilStreams(managed: ManagedHub, count: number): Promise<void> {
  while ((await managed.client.status()).event_streams !== count);
}

/** A client that sends a request and never reads the answer. */
async function openDeaf(managed: ManagedHub): Promise<Socket> {
  const { port, hostname } = new URL(managed.url);
  const socket = connect(Number(port), hostname).pause();
  await once(socket, "connect");
  socket.write(
    `GET /api/v1/events HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${managed.token}\r\n\r\n`,
  );
  socket.on("error", () => {});
  return socket;
}

describe("MG-1 the typed client", () => {
  it("yields events until the signal is aborted", async () => {
    const managed = await open();
    const abort = new AbortController();
    const events = managed.client.events({ topics: ["warning"], signal: abort.signal });
    const first = events.next();
    await untilStreams(managed, 1);
    managed.hub.events.emit("warning", { message: "one" });
    const { value } = (await first) as { value: ReceivedEvent };
    expect(value).toEqual({ id: expect.stringMatching(/^\d+$/), event: "warning", data: { message: "one" } });
    const pending = events.next();
    abort.abort();
    expect(await pending).toEqual({ value: undefined, done: true });
    await untilStreams(managed, 0);
  });

  it("resumes after the last event id", async () => {
    const managed = await open();
    managed.hub.events.emit("warning", { message: "zero" });
    const all = managed.client.events({ lastEventId: "1" });
    const reset = (await all.next()).value as ReceivedEvent;
    expect(reset.event).toBe("reset");
    managed.hub.events.emit("warning", { message: "one" });
    await all.return(undefined);
    for await (const { data } of managed.client.events({ lastEventId: reset.id })) {
      expect(data).toEqual({ message: "one" });
      break;
    }
    await untilStreams(managed, 0);
  });

  it("ends when the hub stops, and throws when the connection is lost", async () => {
    const managed = await open();
    const events = managed.client.events();
    const first = events.next();
    await untilStreams(managed, 1);
    managed.api.close();
    expect((await first).value).toMatchObject({ event: "hub.stopping" });
    expect(await events.next()).toEqual({ value: undefined, done: true });
    await expect(managed.client.events().next()).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  });
});
