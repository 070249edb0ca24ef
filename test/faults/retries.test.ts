// When a call may be sent again: table 3.3 of the fault catalogue. The upstream does the work and then fails in every way
// that leaves the outcome unknown; what a tool does must not be done twice, unless the tool says that this is no harm.

import { expect, it } from "vitest";
import { family, requireSeen, rows, type Row } from "./rows.ts";
import type { Fault, Scenario } from "./scenario.ts";
import { HANG_MS, NEVER_OPEN, TRUSTED } from "./settings.ts";

/** The work is done; whether it was, the caller cannot know. */
const AMBIGUOUS: readonly (readonly [what: string, transport: "stdio" | "http", fault: Fault])[] = [
  ["exits", "stdio", { do: "exit", code: 7 }],
  ["is killed", "stdio", { do: "signal", signal: "SIGKILL" }],
  ["writes half an answer and exits", "stdio", { do: "half" }],
  ["never answers", "stdio", { do: "silence" }],
  ["never answers", "http", { do: "silence" }],
  ["answers 502", "http", { do: "status", status: 502, ran: true }],
  ["answers 503", "http", { do: "status", status: 503, ran: true }],
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
    what: `${transport}: ${what}: a tool that is ${hint}, of a trusted server, is called once more`,
    entry: { ...base(tool).entry, ...TRUSTED },
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
      what: `${transport}: ${what}: hints of a server that nobody trusts count for nothing`,
      sees: { code: transport === "http" || fault.do === "silence" ? "NETWORK_ERROR" : "SERVICE_UNAVAILABLE" },
    },
    hinted("look", "read-only"),
    hinted("set", "idempotent"),
  ];
});

family("a call whose outcome is unknown", (of) => {
  rows(table, of);

  it("F23 figure 13: 200 ambiguous failures, every tool without hints ran once", async () => {
    const faults = AMBIGUOUS.filter(([, transport, fault]) => transport === "http" && fault.do !== "silence");
    const steps = Array.from({ length: 200 }, (_, n) => ({ ...(faults[n % faults.length]?.[2] as Fault), nth: n + 1 }));
    const { name, up } = await of.hub().add({ transport: "http", steps }, NEVER_OPEN);
    for (let n = 0; n < steps.length; n++) {
      requireSeen(await of.hub().call(name, "act", { id: `n${n}` }), { code: "NETWORK_ERROR" });
    }
    const ids = up.seen.filter(({ what }) => what === "ran").map(({ id }) => id);
    expect(ids).toEqual(steps.map((_, n) => `n${n}`));
  });

  it("MG-3 RS-1 requests that were sent again are counted, with the reason", async () => {
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

  it("F25 a list that is cut off is asked for again", async () => {
    const { name, up } = await of.hub().add({ transport: "http", steps: [{ on: "tools/list", do: "reset", nth: 1 }] });
    await of.hub().untilState(name, "running");
    expect(up.count("heard", { method: "tools/list" })).toBe(2);
    requireSeen(await of.hub().call(name, "act", { id: "x1" }), "answer");
  });
});
