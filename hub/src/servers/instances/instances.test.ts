import { randomUUID } from "node:crypto";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { fixture } from "../../../../test/support/hub.ts";
import { textOf } from "../../../../test/support/in-process.ts";
import { isRunning, processesWithTag } from "../../../../test/support/processes.ts";
import { createRedactor } from "../../../../test/support/redactor.ts";
import { normalizeServer } from "../../config/parse/normalize.ts";
import { MemorySecrets } from "../../secrets/memory-store.ts";
import { rawParams } from "../../protocol/rpc/jsonrpc.ts";
import { EraMemory } from "../connection/era-memory.ts";
import { Watchdog } from "../process/watchdog.ts";
import { InstancePool } from "./instance-pool.ts";
import { ManagedServer } from "../server.ts";

const instance = randomUUID();
const watchdog = new Watchdog({ instance });
const servers: ManagedServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  expect(processesWithTag(instance)).toEqual([]);
});
afterAll(() => watchdog.close());

async function manage(name: string, instancePool: InstancePool, secrets = new MemorySecrets()) {
  const env = { API_KEY: { secretRef: "key" } };
  const entry = { ...fixture("stateful"), env, isolation: "per-session" };
  await secrets.set("key", "first-value-of-it");
  const context = {
    variables: { PATH: process.env["PATH"] },
    secrets,
    watchdog,
    eras: await EraMemory.open(),
    instance,
    redactor: createRedactor(),
    instancePool,
  };
  const observer = { onStatus: () => undefined, onOffer: () => undefined };
  const server = new ManagedServer(normalizeServer(name, entry), context, observer);
  servers.push(server);
  await server.start();
  const call = async (session: string, tool: string, args = {}) =>
    textOf(
      await server.forward({
        method: "tools/call",
        params: rawParams({ name: tool, arguments: args }),
        caller: { session, principal: () => "somebody", credentialsOf: () => "somebody" },
      }),
    );
  return { server, call, secrets, redactor: context.redactor };
}

describe("instances", () => {
  it("SE-5 the instances of all servers together are bounded: the longest idle one is evicted", async () => {
    const instancePool = new InstancePool("The hub", () => 2);
    const [one, two] = [await manage("one", instancePool), await manage("two", instancePool)];
    const first = await one.call("a", "pid");
    await one.call("b", "pid");
    await two.call("a", "pid");
    expect(isRunning(Number(first))).toBe(false);
    expect([one.server.instances.length, two.server.instances.length]).toEqual([1, 1]);
  });

  it("SE-1 an instance with a newer secret: both values are hidden while they are in use", async () => {
    const { call, server, secrets, redactor } = await manage("it", new InstancePool("The hub", () => 9));
    expect(await call("a", "env", { name: "API_KEY" })).toBe("first-value-of-it");
    await secrets.set("key", "second-value-of-it");
    expect(await call("b", "env", { name: "API_KEY" })).toBe("second-value-of-it");
    expect(redactor.redactText("first-value-of-it second-value-of-it")).toBe("*** ***");
    await server.stop();
    await server.retire(0);
    expect(redactor.redactText("second-value-of-it")).toBe("second-value-of-it");
  });

  it("LC-4 the end of a session is handled at once, also without an instance", async () => {
    const { call, server } = await manage("it", new InstancePool("The hub", () => 9));
    server.sessionEnded("nobody");
    await call("a", "pid");
    server.sessionEnded("a");
    expect(server.instances).toEqual([]);
  });

  it("a caller that has left opens no instance", async () => {
    const { server } = await manage("it", new InstancePool("The hub", () => 9));
    const ask = { method: "tools/call", params: rawParams({ name: "pid" }), signal: AbortSignal.abort() };
    await expect(server.forward(ask)).rejects.toMatchObject({ kind: "Cancelled" });
    expect(server.instances).toEqual([]);
  });

  it("a caller that leaves while its instance starts does not wait, and the next one uses it", async () => {
    const { server, call } = await manage("it", new InstancePool("The hub", () => 9));
    const gone = new AbortController();
    const caller = { session: "a", principal: () => "somebody", credentialsOf: () => "somebody" };
    const asked = server.forward({
      method: "tools/call",
      params: rawParams({ name: "pid" }),
      signal: gone.signal,
      caller,
    });
    const [made] = server.instances;
    gone.abort();
    await expect(asked).rejects.toMatchObject({ kind: "Cancelled" });
    const pid = await call("a", "pid");
    expect(server.instances).toEqual([made]);
    expect(String(made?.pid)).toBe(pid);
  });
});
