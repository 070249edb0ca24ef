// Live events through a real socket: what they say, what a reader that comes back is told, and what becomes of one that
// does not read.

import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { ReceivedEvent } from "../../hub/src/api/received-events.ts";
import { formsOf, openManaged, type ManagedHub } from "../support/api.ts";
import { failing, fixture, type Servers } from "../support/hub.ts";
import { http } from "../support/rpc.ts";
import { onLines } from "../support/streams.ts";

const SECRET = "planted-in-events-8b1c";

const opened: ManagedHub[] = [];
const readers: (() => void)[] = [];
/** Everything that any stream of a test said. */
let heard = "";

async function open(servers: Servers = {}, options: Parameters<typeof openManaged>[1] = {}): Promise<ManagedHub> {
  const managed = await openManaged(servers, options);
  opened.push(managed);
  return managed;
}

afterEach(async () => {
  vi.useRealTimers();
  for (const close of readers.splice(0)) close();
  for (const managed of opened.splice(0)) expect(await managed.end()).toEqual([]);
  for (const form of formsOf(SECRET)) expect(heard).not.toContain(form);
  heard = "";
});

interface Reader {
  readonly status: number;
  /** Every line so far, comments included. */
  readonly lines: string[];
  /** The next event that fits; waits for it. */
  next(fits?: (event: Event) => boolean): Promise<Event>;
  readonly ended: Promise<unknown>;
  close(): void;
}

interface Event {
  readonly id: string;
  readonly event: string;
  // eslint-disable-next-line typescript/no-explicit-any -- tests look into events of any form
  readonly data: any;
}

async function read(managed: ManagedHub, query = "", headers: Record<string, string> = {}): Promise<Reader> {
  const outgoing = request(`${managed.url}/api/v1/events${query}`, {
    headers: { authorization: `Bearer ${managed.token}`, ...headers },
    agent: false,
  }).end();
  outgoing.on("error", () => {});
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  const lines: string[] = [];
  const events: Event[] = [];
  const waiting = new Set<() => void>();
  let event = { id: "", event: "", data: undefined as unknown };
  const wake = () => {
    for (const resolve of waiting) resolve();
    waiting.clear();
  };
  let over = false;
  onLines(response, (line) => {
    heard += `${line}\n`;
    lines.push(line);
    const [, field = "", value = ""] = /^(\w+): (.*)$/.exec(line) ?? [];
    if (field === "id" || field === "event") event = { ...event, [field]: value };
    if (field === "data") event = { ...event, data: JSON.parse(value) };
    if (line === "" && event.event !== "") {
      events.push(event);
      event = { id: "", event: "", data: undefined };
    }
    wake();
  });
  response.on("error", () => {}); // we leave in the middle of it
  const ended = new Promise<void>((resolve) => response.once("close", resolve)).then(() => {
    over = true;
    wake();
  });
  readers.push(() => outgoing.destroy());
  return {
    status: response.statusCode ?? 0,
    lines,
    ended,
    next: async (fits = () => true) => {
      for (;;) {
        const index = events.findIndex(fits);
        const [found] = index < 0 ? [] : events.splice(0, index + 1).slice(-1);
        if (found !== undefined) return found;
        if (over) throw new Error(`The stream ended without it: ${lines.join("\n")}`);
        await new Promise<void>((resolve) => waiting.add(resolve));
      }
    },
    close: () => outgoing.destroy(),
  };
}

const isStatus = (status: string) => (event: Event) => event.event === "server.status" && event.data.status === status;

describe("MG-3 what happens is told as it happens", () => {
  it("LC-10 a start, stage by stage, with the time that it has taken", async () => {
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

  it("LC-3 SE-1 a start that fails, with the reason and without the secrets in it", async () => {
    const managed = await open({
      it: { ...failing("API_KEY"), env: { API_KEY: SECRET } },
    });
    const reader = await read(managed);
    await managed.hub.start();
    const { data } = await reader.next(isStatus("error"));
    expect(data.error).toMatchObject({ kind: "ProcessSpawnFailed", detail: expect.stringContaining("***") });
  });

  it("SE-1 what a server writes to stderr, line by line, without its secrets", async () => {
    const managed = await open({
      it: { ...failing("API_KEY"), env: { API_KEY: SECRET } },
      other: fixture("slow-start", "0"),
    });
    const reader = await read(managed, "?topics=log&server=it");
    await managed.hub.start();
    expect((await reader.next()).data).toEqual({
      server: "it",
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      text: "fatal: no configuration found",
    });
    expect(await reader.next()).toMatchObject({ event: "server.log", data: { server: "it", text: "***" } });
  });

  it("a call: who, what, how it went; not what was said", async () => {
    const managed = await open({ it: fixture("echo") });
    await managed.hub.start();
    const reader = await read(managed, "?topics=call");
    await managed.client.callTool({ server_name: "it", tool_name: "echo", arguments: { text: SECRET } });
    await managed.client.callTool({ server_name: "it", tool_name: "fail" });
    const { data } = await reader.next();
    expect(data).toEqual({
      server: "it",
      tool: "echo",
      group: expect.any(String),
      success: true,
      outcome: "ok",
      duration_ms: expect.any(Number),
      error: null,
    });
    expect((await reader.next()).data).toMatchObject({ tool: "fail", success: false });
  });

  it("a tool that came, with the new counts of each group", async () => {
    const managed = await open({ it: fixture("echo") });
    await managed.hub.start();
    const before = managed.hub.catalog.group().tools.length;
    const reader = await read(managed, "?topics=catalog");
    await managed.client.callTool({ server_name: "it", tool_name: "change", arguments: { name: "brand_new" } });
    const grown = await reader.next(({ data }) => data.groups[0].tool_count > before);
    expect(grown).toMatchObject({
      event: "catalog.changed",
      data: { groups: [{ name: "default", tool_count: before + 1, prompt_count: 1, resource_count: 1 }] },
    });
  });

  it("CF-9 a change of the config, by its names; and one that was refused", async () => {
    const managed = await open({ it: { command: "a", env: { API_KEY: SECRET }, enabled: false } });
    const reader = await read(managed, "?topics=config");
    await managed.client.createServer({ name: "new", command: "b", env: { API_KEY: SECRET }, enabled: false });
    expect(await reader.next()).toMatchObject({
      event: "config.reloaded",
      data: { added: ["new"], removed: [], restarted: [], changed: [], groups: false, description: "added new" },
    });
    await writeFile(join(managed.paths.config, "mcp_server.json"), `{"mcpServers": {"it": {"command": "${SECRET}`);
    await expect(managed.client.reloadConfig()).rejects.toMatchObject({ kind: "InvalidConfig" });
    expect(await reader.next()).toMatchObject({
      event: "config.rejected",
      data: { error: { code: "VALIDATION_ERROR", message: expect.stringContaining("line 1") } },
    });
  });
});

describe("what a reader asked for", () => {
  it("topics leave out the rest", async () => {
    const managed = await open({ it: fixture("echo") });
    const reader = await read(managed, "?topics=call,config.reloaded");
    await managed.hub.start();
    await managed.client.callTool({ server_name: "it", tool_name: "pid" });
    expect((await reader.next()).event).toBe("call.finished");
  });

  it("a server leaves out the others, by name or id; what is about the hub stays", async () => {
    const managed = await open({ one: fixture("echo"), two: { ...fixture("echo"), id: "second" } });
    const reader = await read(managed, "?topics=server,warning&server=second");
    await managed.hub.start();
    managed.hub.events.emit("warning", { message: "for all" });
    const events: Event[] = [];
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

describe("a reader that comes back", () => {
  const warn = (managed: ManagedHub, from: number, to: number) => {
    for (let n = from; n <= to; n++) managed.hub.events.emit("warning", { message: String(n) });
  };

  it("is told what it missed, in order and once", async () => {
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

  it("with a filter, only of what it asked for", async () => {
    const managed = await open();
    const first = await read(managed);
    warn(managed, 1, 1);
    const { id } = await first.next();
    warn(managed, 2, 2);
    const second = await read(managed, "?topics=call", { "last-event-id": id });
    managed.hub.events.emit("call.finished", { server: "s", tool: "t", group: "g", durationMs: 1, outcome: "ok" });
    expect((await second.next()).event).toBe("call.finished");
  });

  it("after more than a thousand events is told to look at everything anew, and goes on from there", async () => {
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
  it("say something every 15 seconds, so that nobody takes them for dead", async () => {
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

  it("T22 are at most a hundred; the next one is told so, and gets in when another has gone", async () => {
    const managed = await open();
    const all = await Promise.all(Array.from({ length: 100 }, () => read(managed)));
    expect((await managed.client.status()).event_streams).toBe(100);
    const refused = await managed.ask("/events");
    expect([refused.status, refused.json.code]).toEqual([429, "RATE_LIMITED"]);
    all[0]?.close();
    await untilStreams(managed, 99);
    expect((await read(managed)).status).toBe(200);
  });

  it("T21 of a reader that does not read are cut, and the others go on", async () => {
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

  it("are not opened by a HEAD", async () => {
    const managed = await open();
    const headers = { authorization: `Bearer ${managed.token}` };
    expect((await http(`${managed.url}/api/v1/events`, { method: "HEAD", headers })).status).toBe(405);
    expect((await http(`${managed.url}/api/v1/status`, { method: "HEAD", headers })).status).toBe(200);
    expect((await managed.client.status()).event_streams).toBe(0);
  });

  it("F42 end with a last word when the hub stops", async () => {
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

/** A client that asks and then never reads. */
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
  it("gives events one by one, and ends when it is told to", async () => {
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

  it("goes on where it was", async () => {
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

  it("ends when the hub stops, and says so when it is lost", async () => {
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
