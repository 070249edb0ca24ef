// RS-1: when a call may be sent again. The upstream does the work and then fails in every way that leaves the outcome unknown: a
// tool must not run twice unless it declares that this is harmless. Statuses are in http.test.ts.

import { expect, it } from "vitest";
import { family, requireSeen, rows, type Row } from "./rows.ts";
import type { Fault, Scenario, Upstream } from "./scenario.ts";
import { DISTRUSTED, HANG_MS, NEVER_OPEN } from "./settings.ts";

/** The work is done, but the caller cannot know it. */
const AMBIGUOUS: readonly (readonly [what: string, transport: "stdio" | "http", fault: Fault])[] = [
  ["exits", "stdio", { do: "exit", code: 7 }],
  ["is killed", "stdio", { do: "signal", signal: "SIGKILL" }],
  ["writes half an answer and exits", "stdio", { do: "half" }],
  ["never answers", "stdio", { do: "silence" }],
  ["never answers", "http", { do: "silence" }],
  ["resets the connection", "http", { do: "reset" }],
  ["resets in the middle of the answer", "http", { do: "reset", bytes: 120 }],
  ["breaks the event stream", "http", { do: "sseCut" }],
];

const table = AMBIGUOUS.flatMap(([what, transport, fault]): Row[] => {
  const base = (tool: string) => ({
    id: "F23",
    tool,
    scenario: { transport, steps: [{ ...fault, tool, first: 1 }] } satisfies Scenario,
    entry: { timeouts: { requestMs: fault.do === "silence" ? HANG_MS : HANG_MS * 2 } },
  });
  const hinted = (tool: string, hint: string): Row => ({
    ...base(tool),
    what: `${transport}: ${what}: a tool that is ${hint} is called once more`,
    sees: "answer",
    ran: 2,
  });
  return [
    {
      ...base("act"),
      what: `${transport}: ${what}: a tool without hints runs once, and the caller is told`,
      sees: { code: transport === "http" || fault.do === "silence" ? "NETWORK_ERROR" : "SERVICE_UNAVAILABLE" },
    },
    {
      ...base("look"),
      what: `${transport}: ${what}: hints of a server that is not trusted count for nothing`,
      entry: { ...base("look").entry, ...DISTRUSTED },
      sees: { code: transport === "http" || fault.do === "silence" ? "NETWORK_ERROR" : "SERVICE_UNAVAILABLE" },
    },
    hinted("look", "read-only"),
    hinted("set", "idempotent"),
  ];
});

family("a call whose outcome is unknown", (of) => {
  rows(table, of);

  it("F23 200 ambiguous failures: every tool without hints ran once", async () => {
    const faults = AMBIGUOUS.filter(([, transport, fault]) => transport === "http" && fault.do !== "silence");
    const steps = Array.from({ length: 200 }, (_, n) => ({ ...(faults[n % faults.length]?.[2] as Fault), nth: n + 1 }));
    const { name, up } = await of.hub().add({ transport: "http", steps }, NEVER_OPEN);
    for (let n = 0; n < steps.length; n++) {
      requireSeen(await of.hub().call(name, "act", { id: `n${n}` }), { code: "NETWORK_ERROR" });
    }
    const ids = up.seen.filter(({ what }) => what === "ran").map(({ id }) => id);
    expect(ids).toEqual(steps.map((_, n) => `n${n}`));
  });

  it("RS-1 retries wait 500 ms and 1,000 ms, or as long as Retry-After says", async () => {
    const { name, up } = await of.hub().add({ transport: "http", steps: [{ do: "status", status: 503, first: 2 }] });
    requireSeen(await of.hub().call(name, "act", { id: "x1" }), "answer");
    const [first = 0, second = 0, third = 0] = heardAt(up);
    expect(second - first).toBeGreaterThanOrEqual(495);
    expect(third - second).toBeGreaterThanOrEqual(995);
    const told: Fault = { do: "status", status: 429, headers: { "retry-after": "2" } };
    const polite = await of.hub().add({ transport: "http", steps: [{ ...told, first: 1 }] });
    requireSeen(await of.hub().call(polite.name, "act", { id: "x1" }), "answer");
    const [before = 0, after = 0] = heardAt(polite.up);
    expect(after - before).toBeGreaterThanOrEqual(1995);
  });

  it("RS-1 a retry reconnects: a server that was briefly away answers", async () => {
    // Automatic reconnects come too late for the call.
    const late = { restart_first_ms: 60_000, restart_max_ms: 60_000 };
    const { name, up } = await of.hub().add({ transport: "http" }, { resilience: late });
    await up.stop();
    requireSeen(await of.hub().call(name, "act", { id: "x0" }), { code: "NETWORK_ERROR", kind: "ConnectionFailed" });
    await of.hub().untilState(name, "disconnected");
    // Concurrent calls share one connection attempt.
    const calls = Array.from({ length: 5 }, (_, n) => of.hub().call(name, "act", { id: `x${n}` }));
    await up.listen();
    for (const [n, outcome] of (await Promise.all(calls)).entries()) requireSeen(outcome, "answer", `x${n}`);
    expect(up.ran()).toBe(5);
    expect(up.count("heard", { method: "initialize" })).toBeLessThanOrEqual(3);
    expect(await of.hub().server(name)).toMatchObject({ status: "running", next_try: null });
  });

  it("MG-3 RS-1 retries are counted with their reason", async () => {
    const busy: Fault = { do: "status", status: 429, headers: { "retry-after": "0" } };
    const { name } = await of.hub().add({ transport: "http", steps: [{ ...busy, first: 2 }] });
    requireSeen(await of.hub().call(name, "act", { id: "x1" }), "answer");
    const line = (await of.hub().metrics())
      .split("\n")
      .find((text) => text.startsWith(`hub_retries_total{server="${name}"`));
    expect(line).toBe(`hub_retries_total{server="${name}",reason="RateLimited"} 2`);
  });

  it("RS-5 a call that ends after its server was removed leaves no figures of it", async () => {
    const busy: Fault = { do: "status", status: 429, headers: { "retry-after": "1" } };
    const { name, up } = await of.hub().add({ transport: "http", steps: [busy] });
    const call = of.hub().call(name, "act", { id: "x1" });
    await up.until("heard", { tool: "act" });
    await of.hub().remove(name);
    expect((await call).error).toMatchObject({ kind: "ServerNotFound" });
    expect(await of.hub().metrics()).not.toContain(`"${name}"`);
  });

  it("F25 a list that is cut off is requested again", async () => {
    const { name, up } = await of.hub().add({ transport: "http", steps: [{ on: "tools/list", do: "reset", nth: 1 }] });
    await of.hub().untilState(name, "running");
    // One more listing if the GET stream was opened in the meantime.
    expect(up.count("heard", { method: "tools/list" })).toBeGreaterThanOrEqual(2);
    requireSeen(await of.hub().call(name, "act", { id: "x1" }), "answer");
  });
});

/** The times at which calls reached the server, in milliseconds. */
function heardAt(up: Upstream): number[] {
  return up.seen.filter(({ what, tool }) => what === "heard" && tool !== undefined).map(({ at }) => at);
}
