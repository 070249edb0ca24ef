// The circuit breaker as callers see it. Its state machine has unit tests with a fake clock; these tests prove that it is in the
// path of every call and of nothing else.

import { expect, it } from "vitest";
import { family, requireSeen } from "./rows.ts";
import { Upstream, type Fault } from "./scenario.ts";
import { HANG_MS } from "./settings.ts";

const OPEN = { code: "SERVICE_UNAVAILABLE", kind: "CircuitOpen" } as const;
const FAILURE: Fault = { do: "status", status: 500, ran: true };

family("the circuit breaker", ({ hub }) => {
  it("RS-2 three consecutive failures open the circuit, and the error has the remaining time", async () => {
    const { name, up } = await hub().add({ transport: "http", steps: [FAILURE] });
    for (let n = 0; n < 3; n++) requireSeen(await hub().call(name, "act"), { code: "NETWORK_ERROR" });
    for (let n = 0; n < 10; n++) requireSeen(await hub().call(name, "act"), { ...OPEN, message: /\d+ s/ });
    expect(up.count("heard", { tool: "act" })).toBe(3);
  });

  it("RS-2 a success resets the failure count", async () => {
    const steps = [1, 2, 4, 5].map((nth) => ({ ...FAILURE, nth }));
    const { name, up } = await hub().add({ transport: "http", steps });
    for (let n = 0; n < 6; n++) await hub().call(name, "act", { id: `${n}` });
    expect(up.ran()).toBe(6);
  });

  it.each<[what: string, fault: Fault]>([
    ["errors that the server means", { do: "error", error: { code: -32000, message: "no" } }],
    ["failures of the tool", { do: "toolError" }],
    ["400", { do: "status", status: 400 }],
    ["401", { do: "status", status: 401 }],
    ["403", { do: "status", status: 403 }],
  ])("RS-2 %s do not count", async (_, fault) => {
    const { name, up } = await hub().add({ transport: "http", steps: [{ ...fault, first: 5 }] });
    for (let n = 0; n < 5; n++) await hub().call(name, "act");
    requireSeen(await hub().call(name, "act", { id: "x1" }), "answer");
    expect(up.count("heard", { tool: "act" })).toBe(6);
  });

  it("calls to a server that is still starting wait for it within their time, and do not count against it", async () => {
    const up = new Upstream(hub().home.dir, { starts: [{ do: "hold", gate: "go" }] });
    const name = hub().nextName();
    hub().added.set(name, up);
    await hub().addEntry(name, { ...up.command, timeouts: { startMs: 30_000, requestMs: HANG_MS } });
    await up.until("waiting");
    // Four calls with a short timeout, one more than opens the circuit.
    const impatient = await Promise.all([1, 2, 3, 4].map(() => hub().call(name, "act")));
    for (const outcome of impatient) requireSeen(outcome, { code: "SERVICE_UNAVAILABLE", kind: "ServerStarting" });
    expect(await hub().server(name)).toMatchObject({ status: "starting", circuit: "closed" });
    const patient = [1, 2, 3].map((n) => hub().call(name, "act", { id: `x${n}` }));
    up.open("go");
    for (const [n, outcome] of (await Promise.all(patient)).entries()) requireSeen(outcome, "answer", `x${n + 1}`);
    expect([up.ran(), up.count("start")]).toEqual([3, 1]);
  });

  it("RS-2 after the cooldown one probe is sent, and its success closes the circuit", async () => {
    const { name, up } = await hub().add({ transport: "http", steps: [{ ...FAILURE, first: 3 }] });
    // The hub lists the tools a second time after the start, because they may have changed before its stream was open.
    await hub().until(() => up.count("heard", { method: "tools/list" }) === 2);
    for (let n = 0; n < 3; n++) await hub().call(name, "act");
    requireSeen(await hub().call(name, "act"), OPEN);
    const lists = up.count("heard", { method: "tools/list" });
    await hub().until(() => up.count("heard", { method: "tools/list" }) > lists, 120_000);
    await hub().until(async () => (await hub().call(name, "act", { id: "x1" })).error === undefined);
    expect(up.count("heard", { method: "tools/list" })).toBe(lists + 1);
  });

  it("RS-2 an open circuit affects no other server", async () => {
    const { name } = await hub().add({ transport: "http", steps: [FAILURE] });
    const { name: good } = await hub().add({ transport: "http" });
    for (let n = 0; n < 4; n++) await hub().call(name, "act");
    requireSeen(await hub().call(name, "act"), OPEN);
    requireSeen(await hub().call(good, "act", { id: "x1" }), "answer");
  });

  it("RS-2 errors answered by the server never open the circuit", async () => {
    const { name, up } = await hub().add({ steps: [{ do: "toolError", first: 10 }] });
    for (let n = 0; n < 10; n++) requireSeen(await hub().call(name, "act"), "tool error");
    requireSeen(await hub().call(name, "act", { id: "x1" }), "answer");
    expect(up.ran()).toBe(11);
  });
});
