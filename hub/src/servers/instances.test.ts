import { randomUUID } from "node:crypto";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { fixture } from "../../../test/support/hub.ts";
import { textOf } from "../../../test/support/in-process.ts";
import { isRunning, processesWithTag } from "../../../test/support/processes.ts";
import { createRedactor } from "../../../test/support/redactor.ts";
import { normalizeServer } from "../config/normalize.ts";
import { MemorySecrets } from "../secrets/memory-store.ts";
import { rawParams } from "../wire/jsonrpc.ts";
import { EraMemory } from "./era-memory.ts";
import { Guard } from "./guard.ts";
import { Places } from "./places.ts";
import { ManagedServer } from "./server.ts";

const instance = randomUUID();
const guard = new Guard({ instance });
const servers: ManagedServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  expect(processesWithTag(instance)).toEqual([]);
});
afterAll(() => guard.close());

async function manage(name: string, places: Places, secrets = new MemorySecrets()) {
  const env = { API_KEY: { secretRef: "key" } };
  const entry = { ...fixture("stateful"), env, isolation: "per-session" };
  await secrets.set("key", "first-value-of-it");
  const world = {
    variables: { PATH: process.env["PATH"] },
    secrets,
    guard,
    eras: await EraMemory.open(),
    instance,
    redactor: createRedactor(),
    places,
  };
  const observer = { onStatus: () => undefined, onOffer: () => undefined };
  const server = new ManagedServer(normalizeServer(name, entry), world, observer);
  servers.push(server);
  await server.start();
  const call = async (session: string, tool: string, args = {}) =>
    textOf(
      await server.ask({
        method: "tools/call",
        params: rawParams({ name: tool, arguments: args }),
        caller: { session, principal: () => "somebody" },
      }),
    );
  return { server, call, secrets, redactor: world.redactor };
}

describe("instances", () => {
  it("SE-5 of all servers together there are only so many: the longest idle one goes, whosever it is", async () => {
    const places = new Places("The hub", () => 2);
    const [one, two] = [await manage("one", places), await manage("two", places)];
    const first = await one.call("a", "pid");
    await one.call("b", "pid");
    await two.call("a", "pid");
    expect(isRunning(Number(first))).toBe(false);
    expect([one.server.instances.length, two.server.instances.length]).toEqual([1, 1]);
  });

  it("SE-1 one that has a newer secret than the others: both are hidden, as long as they are in use", async () => {
    const { call, server, secrets, redactor } = await manage("it", new Places("The hub", () => 9));
    expect(await call("a", "env", { name: "API_KEY" })).toBe("first-value-of-it");
    await secrets.set("key", "second-value-of-it");
    expect(await call("b", "env", { name: "API_KEY" })).toBe("second-value-of-it");
    expect(redactor.redactText("first-value-of-it second-value-of-it")).toBe("*** ***");
    await server.stop();
    await server.retire(0);
    expect(redactor.redactText("second-value-of-it")).toBe("second-value-of-it");
  });

  it("LC-4 a session that ended is forgotten at once, also where it has none", async () => {
    const { call, server } = await manage("it", new Places("The hub", () => 9));
    server.sessionEnded("nobody");
    await call("a", "pid");
    server.sessionEnded("a");
    expect(server.instances).toEqual([]);
  });

  it("a caller who has gone opens none", async () => {
    const { server } = await manage("it", new Places("The hub", () => 9));
    const ask = { method: "tools/call", params: rawParams({ name: "pid" }), signal: AbortSignal.abort() };
    await expect(server.ask(ask)).rejects.toMatchObject({ kind: "Cancelled" });
    expect(server.instances).toEqual([]);
  });

  it("a caller who goes while its instance starts need not wait for it, and the next one finds it", async () => {
    const { server, call } = await manage("it", new Places("The hub", () => 9));
    const gone = new AbortController();
    const caller = { session: "a", principal: () => "somebody" };
    const asked = server.ask({ method: "tools/call", params: rawParams({ name: "pid" }), signal: gone.signal, caller });
    const [made] = server.instances;
    gone.abort();
    await expect(asked).rejects.toMatchObject({ kind: "Cancelled" });
    const pid = await call("a", "pid");
    expect(server.instances).toEqual([made]);
    expect(String(made?.pid)).toBe(pid);
  });
});
