import { randomUUID } from "node:crypto";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { fixture } from "../../../test/support/hub.ts";
import { processesWithTag } from "../../../test/support/processes.ts";
import { createRedactor } from "../../../test/support/redactor.ts";
import { normalizeServer } from "../config/normalize.ts";
import { MemorySecrets } from "../secrets/memory-store.ts";
import { EraMemory } from "./era-memory.ts";
import { Guard } from "./guard.ts";
import { Supervisor } from "./supervisor.ts";

const instance = randomUUID();
const guard = new Guard({ instance });
const supervisors: Supervisor[] = [];

afterEach(async () => {
  await Promise.all(supervisors.splice(0).map((supervisor) => supervisor.shutdownAll()));
  expect(processesWithTag(instance)).toEqual([]);
});
afterAll(() => guard.close());

async function supervise(entries: Record<string, object>): Promise<Supervisor> {
  const variables = { PATH: process.env["PATH"] };
  const redactor = createRedactor();
  const world = { variables, secrets: new MemorySecrets(), guard, eras: await EraMemory.open(), instance, redactor };
  const supervisor = new Supervisor(world, { onStatus: () => undefined, onOffer: () => undefined });
  for (const [name, entry] of Object.entries(entries)) supervisor.add(normalizeServer(name, entry));
  supervisors.push(supervisor);
  return supervisor;
}

describe("the set", () => {
  it("a server is found by its name and by its id", async () => {
    const supervisor = await supervise({ a: { ...fixture("echo"), id: "first" }, b: fixture("echo") });
    expect(supervisor.get("a")).toBe(supervisor.get("first"));
    expect(supervisor.get("b").name).toBe("b");
  });

  it("a name counts before an id", async () => {
    const supervisor = await supervise({ a: { ...fixture("echo"), id: "b" }, b: fixture("echo") });
    expect(supervisor.get("b").name).toBe("b");
  });

  it.each(["nobody", "", "__proto__", "toString"])(
    "MC-NT2 %j is NOT_FOUND, with the names that there are",
    async (name) => {
      const supervisor = await supervise({ a: fixture("echo") });
      expect(() => supervisor.get(name)).toThrow(
        expect.objectContaining({ code: "NOT_FOUND", hint: "Configured servers: a" }),
      );
    },
  );

  it("MC-T2 a server that is removed is stopped and gone", async () => {
    const supervisor = await supervise({ a: fixture("echo"), b: fixture("echo") });
    await supervisor.startAll();
    await supervisor.remove("a");
    expect(() => supervisor.get("a")).toThrow(expect.objectContaining({ kind: "ServerNotFound" }));
    expect(processesWithTag(instance)).toEqual([supervisor.get("b").pid]);
  });
});

describe("all of them", () => {
  it("LC-7 MC-T8 start and stop side by side, whatever becomes of each", async () => {
    const supervisor = await supervise({
      a: fixture("echo"),
      broken: fixture("exit-at-start"),
      off: { ...fixture("echo"), enabled: false },
      b: fixture("modern"),
    });
    await supervisor.startAll();
    const states = () => supervisor.servers.map(({ status }) => status.state);
    expect(states()).toEqual(["running", "error", "disabled", "running"]);
    expect(processesWithTag(instance)).toHaveLength(2);
    await supervisor.shutdownAll();
    expect(states()).toEqual(["stopped", "stopped", "disabled", "stopped"]);
    expect(processesWithTag(instance)).toEqual([]);
  });

  it("GR-3 the listings are those of servers that were up, and say which still are", async () => {
    const supervisor = await supervise({ a: fixture("paged"), b: fixture("paged"), c: fixture("exit-at-start") });
    await supervisor.startAll();
    await supervisor.get("b").stop();
    const listings = supervisor.listings();
    expect([...listings].map(([name, { available }]) => [name, available])).toEqual([
      ["a", true],
      ["b", false],
    ]);
  });
});

describe("a trial", () => {
  it("LC-9 starts a disabled config too, touches no configured server, leaves nothing", async () => {
    const supervisor = await supervise({ a: fixture("echo") });
    const config = normalizeServer("a", { ...fixture("paged"), enabled: false });
    expect(await supervisor.test(config)).toMatchObject({ success: true, message: "Connected: 3 tools" });
    expect(supervisor.get("a").status).toEqual({ state: "stopped" });
    expect(processesWithTag(instance)).toEqual([]);
  });

  it.each([
    [{ command: "/no/such/program" }, "NOT_FOUND", "Package not found"],
    [{ ...fixture("echo"), env: { X: "${NOT_SET}" } }, "VALIDATION_ERROR", "Missing required credentials"],
    [{ ...fixture("hung"), timeouts: { startMs: 200 } }, "NETWORK_ERROR", "Handshake timed out"],
    [fixture("exit-at-start"), "SERVICE_UNAVAILABLE", "The server exited with code 3 before the handshake"],
    [{ url: "http://127.0.0.1:1/mcp" }, "NETWORK_ERROR", "The server cannot be reached"],
  ])("LC-9 LC-3 of %j fails with %s", async (entry, code, message) => {
    const supervisor = await supervise({});
    expect(await supervisor.test(normalizeServer("new", entry))).toMatchObject({
      success: false,
      message,
      tools: [],
      resources: [],
      latency_ms: expect.any(Number),
      error: { code, message },
    });
  });
});
