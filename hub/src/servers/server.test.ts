import { once, EventEmitter } from "node:events";
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { fixture } from "../../../test/support/hub.ts";
import { processesWithTag } from "../../../test/support/processes.ts";
import { createRedactor } from "../../../test/support/redactor.ts";
import { startRemote } from "../../../test/support/remote.ts";
import { normalizeServer } from "../config/parse/normalize.ts";
import { MemorySecrets } from "../secrets/memory-store.ts";
import { rawParams } from "../protocol/rpc/jsonrpc.ts";
import { EraMemory } from "./connection/era-memory.ts";
import { Watchdog } from "./process/watchdog.ts";
import { ManagedServer } from "./server.ts";

const instance = randomUUID();
const watchdog = new Watchdog({ instance });
const servers: ManagedServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  expect(processesWithTag(instance)).toEqual([]);
});
afterAll(() => watchdog.close());

/** A server, with everything that it reports. */
async function manage(entry: object) {
  const states: string[] = [];
  const offers: number[] = [];
  const events = new EventEmitter();
  const context = {
    variables: { PATH: process.env["PATH"] },
    secrets: new MemorySecrets(),
    watchdog,
    eras: await EraMemory.open(),
    instance,
    redactor: createRedactor(),
  };
  const server = new ManagedServer(normalizeServer("it", entry), context, {
    onStatus: ({ status }) => {
      states.push(status.state);
      events.emit("status");
    },
    onOffer: ({ available, listing }) => {
      offers.push(available ? (listing?.tools.length ?? 0) : 0);
      events.emit("offer");
    },
  });
  servers.push(server);
  return { server, states, offers, events };
}

const call = (server: ManagedServer, name: string, args = {}) =>
  server.forward({ method: "tools/call", params: rawParams({ name, arguments: args }) });

async function heardBy(server: ManagedServer): Promise<unknown[]> {
  const reply = await call(server, "heard");
  if (!reply.ok) throw new Error("no answer");
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- our own fixture answers in this form
  return JSON.parse((reply.result.value as { content: { text: string }[] }).content[0]?.text ?? "");
}

describe("a program that is not a server", () => {
  it("a program that echoes its input is named as the reason", async () => {
    const { server } = await manage({ command: "cat" });
    const error = await server.start().then(
      () => undefined,
      (thrown: { message: string; detail?: string }) => `${thrown.message} ${thrown.detail ?? ""}`,
    );
    expect(error).toMatch(/echoes its input: it is not an MCP server/);
  });
});

it("LC-5 a stop before the start leaves nothing running", async () => {
  for (const on_demand of [false, true]) {
    const { server } = await manage({ ...fixture("echo"), resilience: { on_demand } });
    const booted = server.boot().catch((error: unknown) => error);
    await server.stop();
    expect([undefined, expect.objectContaining({ kind: "Cancelled" })]).toContainEqual(await booted);
    expect([server.status.state, server.pid]).toEqual(["stopped", undefined]);
  }
});

it("MG-1 a server that starts with the hub is starting at once", async () => {
  const { server } = await manage(fixture("echo"));
  const booted = server.boot();
  expect(server.status.state).toBe("starting");
  await booted;
  expect(server.status.state).toBe("running");
});

describe("a server that is not running", () => {
  it.each([
    ["stopped", {}],
    ["disabled", { enabled: false }],
  ])("GR-5 %s: a call fails with the reason", async (state, more) => {
    const { server } = await manage({ ...fixture("echo"), ...more });
    await expect(call(server, "echo")).rejects.toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      message: "Server unavailable",
      detail: `Server "it" is ${state}`,
    });
  });

  it("MC-NT1 a disabled server stays disabled", async () => {
    const { server, states } = await manage({ ...fixture("echo"), enabled: false });
    await expect(server.start()).rejects.toMatchObject({
      code: "CONFLICT",
      hint: expect.stringMatching(/^plugboard enable /),
    });
    await server.stop();
    expect([server.status, states]).toEqual([{ state: "disabled" }, []]);
  });

  it("LC-4 stopping it does nothing", async () => {
    const { server, states } = await manage(fixture("echo"));
    await server.stop();
    await server.stop();
    expect([server.status, states]).toEqual([{ state: "stopped" }, []]);
  });
});

describe("what a server offers", () => {
  it("GR-8 is reported when the server starts and stops", async () => {
    const { server, offers } = await manage(fixture("paged"));
    await server.start();
    await server.stop();
    expect(offers).toEqual([3, 0]);
  });

  it("GR-6 is kept while the server is down, so that its names stay reserved", async () => {
    const { server } = await manage(fixture("paged"));
    await server.start();
    await server.stop();
    expect(server.available).toBe(false);
    expect(server.listing?.tools.map((tool) => tool["name"])).toEqual(["one", "two", "three"]);
  });

  it("GR-8 a burst of announcements causes one new listing", async () => {
    const { server, offers, events } = await manage(fixture("echo"));
    await server.start();
    const listed = async () => (await heardBy(server)).filter((method) => method === "tools/list").length;
    await call(server, "change", { name: "new", times: 50 });
    await once(events, "offer");
    expect(offers).toEqual([offers[0], (offers[0] ?? 0) + 1]);
    expect(await listed()).toBe(2);
    expect(server.status).toMatchObject({ state: "running", tools: expect.arrayContaining(["new"]) });
  });

  it("GR-8 announcements of a server that is being stopped are ignored", async () => {
    const { server, offers } = await manage(fixture("echo"));
    await server.start();
    await call(server, "change", { name: "new" });
    await server.stop();
    await server.start();
    expect(server.status).toHaveProperty("tools", expect.not.arrayContaining(["new"]));
    expect(offers.slice(0, 2)).toEqual([offers[0], 0]);
  });

  it("MC-T3 the server's name and instructions are known", async () => {
    const { server } = await manage(fixture("echo"));
    expect(server.info).toBeUndefined();
    await server.start();
    expect(server.info).toMatchObject({ serverInfo: { name: "fixture" }, instructions: "Echo is at your service." });
    await server.stop();
    expect(server.info).toBeUndefined();
  });
});

describe("start and stop", () => {
  it("LC-1 stop, start, stop without waiting ends stopped, with nothing left", async () => {
    const { server } = await manage(fixture("echo"));
    await server.start();
    const first = server.stop();
    const start = server.start().catch((error: unknown) => error);
    await Promise.all([first, server.stop()]);
    expect(await start).toMatchObject({ kind: "Cancelled" });
    expect(server.status).toEqual({ state: "stopped" });
    expect(processesWithTag(instance)).toEqual([]);
  });

  it("LC-1 after a hundred random starts and stops the last one decides", async () => {
    const { server } = await manage(fixture("echo"));
    const running: Promise<unknown>[] = [];
    for (let round = 0; round < 100; round++) {
      running.push((round % 3 === 0 ? server.stop() : server.start()).catch(() => undefined));
      if (round % 10 === 0) await running.at(-1);
    }
    running.push(server.start());
    await Promise.all(running);
    expect(server.status.state).toBe("running");
    expect(processesWithTag(instance)).toEqual([server.pid]);
  });

  it("LC-2 the old connection is not shown during a restart", async () => {
    const { server, states } = await manage({ ...fixture("hung"), timeouts: { startMs: 200 } });
    await expect(server.start()).rejects.toMatchObject({ message: "Handshake timed out" });
    const again = server.start();
    expect(server.status).toMatchObject({ state: "starting", stage: "resolving" });
    await expect(again).rejects.toMatchObject({ message: "Handshake timed out" });
    expect(new Set(states)).toEqual(new Set(["starting", "error"]));
  });

  it("LC-3 a list that never comes fails in time", async () => {
    const { server } = await manage({ ...fixture("talks-first"), timeouts: { startMs: 250 } });
    await expect(server.start()).rejects.toMatchObject({ code: "NETWORK_ERROR", kind: "Timeout" });
    expect(processesWithTag(instance)).toEqual([]);
  });

  it("GR-7 the log level is set again after a restart", async () => {
    const { server } = await manage(fixture("echo"));
    await server.setLogLevel("warning");
    await server.start();
    await expect.poll(() => heardBy(server)).toContain("logging/setLevel");
    await server.stop();
    await server.start();
    await expect.poll(() => heardBy(server)).toContain("logging/setLevel");
  });
});

describe("a remote server", () => {
  it("LC-6 reconnects after a loss until it is stopped", async () => {
    const remote = await startRemote("legacy-http");
    const { server, states, events } = await manage(remote.entry);
    await server.start();
    await remote.stop();
    while (states.filter((state) => state === "disconnected").length < 2) await once(events, "status");
    expect(server.status).toMatchObject({ state: "disconnected", error: { code: "NETWORK_ERROR" } });
    await server.stop();
    expect(server.status).toEqual({ state: "stopped" });
    expect(states).not.toContain("error");
  });

  it("LC-6 F30 is in error if it is down at the start, and can be started later", async () => {
    const first = await startRemote("modern-http");
    await first.stop();
    const { server } = await manage(first.entry);
    await expect(server.start()).rejects.toMatchObject({ code: "NETWORK_ERROR" });
    const second = await startRemote("modern-http", [], first.port);
    await server.start();
    expect(server.status.state).toBe("running");
    await server.stop();
    await second.stop();
  });
});
