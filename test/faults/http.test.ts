// F22 to F30: faults of servers on Streamable HTTP and of the network in front of them, except for names and TLS.

import { expect, it } from "vitest";
import { FaultProxy } from "./fault-proxy.ts";
import type { FaultHub } from "./fault-hub.ts";
import { family, requireSeen, rows, type Row, type Sees } from "./rows.ts";
import { Upstream, type Fault, type Scenario } from "./scenario.ts";
import { HANG_MS, retrying } from "./settings.ts";

const ERAS = ["legacy", "modern"] as const;
const HANGS = { timeouts: { requestMs: HANG_MS } };
const BROKEN = { code: "NETWORK_ERROR", kind: "ConnectionFailed" } as const;
const NO_ANSWER = { code: "NETWORK_ERROR", kind: "ProtocolError" } as const;
const TIMED_OUT = { code: "NETWORK_ERROR", kind: "Timeout" } as const;

interface Short {
  readonly id: string;
  readonly what: string;
  readonly fault: Fault;
  readonly sees: Sees;
  readonly ran?: number;
  readonly heard?: number;
  readonly entry?: object;
  readonly tool?: string;
  /** The fault ends after this number of calls. */
  readonly first?: number;
  readonly heavy?: boolean;
}

/** A row for each era. The eras differ on the wire, not in what the caller sees. */
const inBothEras = (table: readonly Short[]): Row[] =>
  table.flatMap(({ what, fault, first, entry, ...rest }) =>
    ERAS.map((era): Row => ({
      ...rest,
      what: `${what}, ${era}`,
      scenario: { transport: "http", era, steps: [{ ...fault, ...(first === undefined ? {} : { first }) }] },
      entry: { ...entry },
    })),
  );

const STATUS = inBothEras([
  ...[400, 405, 418, 500, 501, 504].map((status): Short => ({
    id: "F23",
    what: `${status} is not tried again`,
    fault: { do: "status", status, ran: status >= 500 },
    sees: { code: "NETWORK_ERROR" },
    ran: status >= 500 ? 1 : 0,
    heard: 1,
  })),
  {
    id: "F23",
    what: "503 with Retry-After is retried at that time",
    fault: { do: "status", status: 503, headers: { "retry-after": "1" } },
    first: 2,
    sees: "answer",
    ran: 1,
    heard: 3,
  },
  ...["1", "0"].map((after): Short => ({
    id: "F22",
    what: `429 with Retry-After: ${after} is tried again`,
    fault: { do: "status", status: 429, headers: { "retry-after": after } },
    first: 1,
    sees: "answer",
    ran: 1,
    heard: 2,
  })),
  ...["86400", "Fri, 01 Jan 2100 00:00:00 GMT"].map((after): Short => ({
    id: "F22",
    what: `429 with Retry-After: ${after} is beyond the deadline and fails at once`,
    fault: { do: "status", status: 429, headers: { "retry-after": after } },
    sees: { code: "RATE_LIMITED" },
    ran: 0,
    heard: 1,
  })),
  {
    id: "F22",
    what: "429 with an invalid Retry-After is retried after the usual delay",
    fault: { do: "status", status: 429, headers: { "retry-after": "soon" } },
    first: 1,
    sees: "answer",
    ran: 1,
    heard: 2,
  },
  {
    id: "F24",
    what: "401 is reported and not retried",
    fault: { do: "status", status: 401, headers: { "www-authenticate": "Bearer" } },
    sees: { code: "UNAUTHENTICATED", kind: "Unauthenticated" },
    ran: 0,
    heard: 1,
  },
  {
    id: "F24",
    what: "403 is reported and not retried",
    fault: { do: "status", status: 403 },
    sees: { code: "FORBIDDEN", kind: "Forbidden" },
    ran: 0,
    heard: 1,
  },
]);

/** Status, tool, rule; how often the server receives a call if it fails once, and if it fails always. */
const RETRIED = (
  [
    [502, "act", undefined, 2, 3],
    [503, "act", undefined, 2, 3],
    [429, "act", undefined, 2, 3],
    [502, "look", undefined, 2, 3],
    [503, "look", undefined, 2, 3],
    [502, "act", "safe", 1, 1],
    [503, "act", "safe", 2, 3],
    [429, "act", "safe", 2, 3],
    [502, "act", "always", 2, 3],
    [503, "act", "always", 2, 3],
    [502, "look", "never", 1, 1],
    [503, "look", "never", 1, 1],
    [429, "look", "never", 1, 1],
  ] as const
).flatMap(([status, tool, rule, heardOnce, heardAlways]): Row[] => {
  const fault = { do: "status", status } as const;
  const code = status === 429 ? "RATE_LIMITED" : "NETWORK_ERROR";
  const row = { id: "RS-1", tool, entry: rule === undefined ? {} : retrying(rule) };
  const what = `${status} to ${tool}, retry ${rule ?? "as usual"}`;
  const isRepeated = heardOnce > 1;
  return [
    {
      ...row,
      what: `${what}: fails once`,
      scenario: { transport: "http", era: "legacy", steps: [{ ...fault, first: 1 }] },
      sees: isRepeated ? "answer" : { code },
      ran: isRepeated ? 1 : 0,
      heard: heardOnce,
    },
    {
      ...row,
      what: `${what}: fails always`,
      scenario: { transport: "http", era: "modern", steps: [fault] },
      sees: { code },
      ran: 0,
      heard: heardAlways,
    },
  ];
});

const ANSWERS = inBothEras([
  { id: "F25", what: "reset before the headers", fault: { do: "reset" }, sees: BROKEN },
  { id: "F25", what: "reset in the middle of the headers", fault: { do: "reset", bytes: 20 }, sees: BROKEN },
  { id: "F25", what: "reset in the middle of the JSON", fault: { do: "reset", bytes: 130 }, sees: BROKEN },
  { id: "F25", what: "an event stream that breaks after progress", fault: { do: "sseCut" }, sees: BROKEN },
  {
    id: "F25",
    what: "an event stream that breaks in the middle of the answer",
    fault: { do: "sseCut", tail: 'data: {"jsonrpc":"2.0","id":4,"res' },
    sees: BROKEN,
  },
  {
    id: "F25",
    what: "an event stream that ends properly without an answer",
    fault: { do: "sseCut", hard: false },
    sees: BROKEN,
  },
  {
    id: "F25",
    what: "an event stream whose last event has no blank line after it",
    fault: { do: "sseCut", hard: false, tail: 'data: {"jsonrpc":"2.0","id":4,"result":{}}' },
    sees: BROKEN,
  },
  { id: "F03", what: "never answers", fault: { do: "silence" }, entry: HANGS, sees: TIMED_OUT },
  { id: "F43", what: "is suspended (SIGSTOP)", fault: { do: "freeze" }, entry: HANGS, sees: TIMED_OUT },
  {
    id: "F06",
    what: "a page of HTML with 200",
    fault: { do: "body", body: "<html>", type: "text/html" },
    sees: NO_ANSWER,
  },
  { id: "F06", what: "an empty body with 200", fault: { do: "body", body: "" }, sees: NO_ANSWER },
  { id: "F06", what: "half a JSON text with 200", fault: { do: "body", body: '{"jsonrpc":"2.0",' }, sees: NO_ANSWER },
  { id: "F06", what: "a list with 200", fault: { do: "body", body: "[]" }, sees: NO_ANSWER },
  {
    id: "F09",
    what: "an answer to another id",
    fault: { do: "body", body: '{"jsonrpc":"2.0","id":999999,"result":{}}' },
    sees: NO_ANSWER,
  },
  {
    id: "F06",
    what: "the right answer under a wrong content type is taken",
    fault: { do: "contentType", type: "text/plain" },
    sees: "answer",
  },
  {
    id: "F16",
    what: "a JSON-RPC error of the server",
    fault: { do: "error", error: { code: -32042, message: "no" } },
    sees: { rpc: -32042 },
  },
  { id: "F16", what: "a tool error", fault: { do: "toolError" }, sees: "tool error" },
  { id: "F01", what: "exits in the middle of a call", fault: { do: "exit" }, sees: BROKEN },
]);

const SSE = inBothEras([
  { id: "F26", what: "comments before the answer", fault: { do: "sse", before: ": hello\n\n:\n\n" }, sees: "answer" },
  { id: "F26", what: "lines that end with CRLF", fault: { do: "sse", before: ": x\n\n", crlf: true }, sees: "answer" },
  { id: "F26", what: "a retry field and an id", fault: { do: "sse", before: "retry: 10\nid: 7\n\n" }, sees: "answer" },
  { id: "F26", what: "64 KB of keep-alive", fault: { do: "sse", pad: 64 << 10 }, sees: "answer" },
  {
    id: "F26",
    what: "unknown fields",
    fault: { do: "sse", before: "colour: red\nnonsense\n\n" },
    sees: "answer",
  },
  { id: "F26", what: "an event that is not JSON", fault: { do: "sse", before: "data: hello\n\n" }, sees: "answer" },
  { id: "F26", what: "a byte order mark", fault: { do: "sse", before: "\uFEFF: x\n\n" }, sees: "answer" },
  {
    id: "F26",
    what: "an event of a million lines",
    heavy: true,
    fault: { do: "sse", before: `${"data:\n".repeat(1_000_000)}\n` },
    sees: "answer",
  },
  {
    id: "F26",
    what: "one event of 64 MB",
    heavy: true,
    fault: { do: "sseHuge", bytes: 64 << 20 },
    entry: { timeouts: { requestMs: 60_000 } },
    sees: NO_ANSWER,
  },
]);

family("a server on HTTP: statuses", (of) => rows([...STATUS, ...RETRIED, ...NOT_FOUND], of));
family("a server on HTTP: answers", (of) => rows(ANSWERS, of));
family("a server on HTTP: event streams", (of) => rows(SSE, of));

/** Modern: an unknown address. Legacy: a session that the server no longer knows. */
const NOT_FOUND: readonly Row[] = [
  { era: "modern" as const, what: "404 is not retried, modern", heard: 1 },
  { era: "legacy" as const, what: "404 that persists in a new session is retried once, legacy", heard: 2 },
].map(({ era, ...row }) => ({
  ...row,
  id: "F23",
  scenario: { transport: "http", era, steps: [{ do: "status", status: 404 }] },
  sees: { code: "NETWORK_ERROR" },
  ran: 0,
}));

async function addBehindProxy(hub: FaultHub, scenario: Scenario, entry: object = {}) {
  const up = new Upstream(hub.home.dir, { transport: "http", ...scenario });
  const url = await up.listen();
  const proxy = await FaultProxy.open(Number(new URL(url).port));
  const name = hub.nextName();
  hub.added.set(name, up);
  // These tests cause many consecutive failures, which must not open the circuit.
  await hub.addEntry(name, { url: proxy.through(url), resilience: { breaker_failures: 10_000 }, ...entry });
  await hub.untilState(name, "running");
  return { name, up, proxy };
}

family("the network in front of a server", (of) => {
  const { hub } = of;

  it.each(ERAS)(
    "F25 a reset at every byte of an answer: never a wrong answer, never a second run (%s)",
    async (era) => {
      const { name, up, proxy } = await addBehindProxy(hub(), { era });
      let failures = 0;
      let calls = 0;
      for (let bytes = 0; bytes < 420; bytes += 7) {
        // Bytes are counted per connection, so each call needs a new one.
        proxy.resetAll();
        proxy.set({ down: { resetAfterBytes: bytes } });
        const id = `n${++calls}`;
        const outcome = await hub().call(name, "act", { id });
        if (outcome.error === undefined) requireSeen(outcome, "answer", id);
        else requireSeen(outcome, { code: "NETWORK_ERROR" });
        failures += Number(outcome.error !== undefined);
        expect(up.count("ran", { id })).toBeLessThanOrEqual(1);
      }
      expect(failures).toBeGreaterThan(20);
      proxy.set({});
      await hub().untilState(name, "running");
      requireSeen(await hub().call(name, "act", { id: "x1" }), "answer");
      await proxy.close();
    },
  );

  it.each(ERAS)("F25 a reset at any byte of a request (%s)", async (era) => {
    const { name, up, proxy } = await addBehindProxy(hub(), { era });
    for (const bytes of [0, 1, 50, 150, 300, 400]) {
      proxy.resetAll();
      proxy.set({ up: { resetAfterBytes: bytes } });
      requireSeen(await hub().call(name, "act", { id: "x1" }), BROKEN);
    }
    expect(up.ran()).toBe(0);
    proxy.set({});
    requireSeen(await hub().call(name, "act", { id: "x1" }), "answer");
    await proxy.close();
  });

  it.each(ERAS)("F07 F26 every byte in its own packet (%s)", async (era) => {
    const { name, proxy } = await addBehindProxy(hub(), { era, steps: [{ do: "sse", reports: 2, nth: 2 }] });
    proxy.set({ up: { sliceBytes: 1 }, down: { sliceBytes: 1 } });
    requireSeen(await hub().call(name, "act", { id: "é✓" }), "answer", "é✓");
    requireSeen(await hub().call(name, "act", { id: "x1" }), "answer");
    await proxy.close();
  });

  it.each(ERAS)(
    "F03 a network that drops all packets: the call times out, and the next call works afterwards (%s)",
    async (era) => {
      const { name, proxy } = await addBehindProxy(hub(), { era }, HANGS);
      proxy.set({ down: { blackHole: true } });
      requireSeen(await hub().call(name, "act"), TIMED_OUT);
      proxy.set({});
      proxy.resetAll();
      requireSeen(await hub().call(name, "act", { id: "x1" }), "answer");
      await proxy.close();
    },
  );

  it.each(ERAS)("F25 a server that half-closes in the middle of an answer (%s)", async (era) => {
    const { name, proxy } = await addBehindProxy(hub(), { era });
    proxy.resetAll();
    proxy.set({ down: { halfCloseAfterBytes: 60 } });
    requireSeen(await hub().call(name, "act"), { code: "NETWORK_ERROR" });
    await proxy.close();
  });

  it.each(ERAS)("F25 F30 refused connections: it is disconnected, and reconnects automatically (%s)", async (era) => {
    const { name, up, proxy } = await addBehindProxy(hub(), { era });
    await proxy.refuse();
    const { error, isError } = await hub().call(name, "act");
    // The hub detects it by the call, or before by a broken stream.
    expect([isError, ["NETWORK_ERROR", "SERVICE_UNAVAILABLE"]]).toEqual([true, expect.arrayContaining([error?.code])]);
    await hub().passed(name, "disconnected");
    expect(up.ran()).toBe(0);
    await proxy.accept();
    await hub().untilState(name, "running");
    requireSeen(await hub().call(name, "act", { id: "x1" }), "answer");
    await proxy.close();
  });

  it("F03 latency alone is not a failure", async () => {
    const { name, proxy } = await addBehindProxy(hub(), {});
    proxy.set({ up: { latencyMs: 50 }, down: { latencyMs: 50 } });
    requireSeen(await hub().call(name, "act", { id: "x1" }), "answer");
    await proxy.close();
  });

  it("F25 connection refused", async () => {
    const proxy = await FaultProxy.open(1);
    await proxy.close();
    const name = hub().nextName();
    await hub().addEntry(name, { url: `http://127.0.0.1:${proxy.port}/mcp` });
    const { error } = await hub().passed(name, "error");
    expect(error).toMatchObject({ code: "NETWORK_ERROR", message: "The server cannot be reached" });
  });
});

/** Every handshake is refused. */
const LOCKED = ["server/discover", "initialize"].map((on) => ({
  on,
  do: "status" as const,
  status: 401,
  headers: { "www-authenticate": "Bearer" },
}));

family("a server on HTTP that comes and goes", (of) => {
  const { hub } = of;

  it.each(ERAS)("F29 restarted with other tools: the new tools appear automatically (%s)", async (era) => {
    const { name, up } = await hub().add({ transport: "http", era, toolsByStart: [["act"], ["act", "new"]] });
    await up.stop();
    await up.listen();
    // The first call may be the one that detects the restart.
    await hub().call(name, "act");
    await hub().until(async () => (await hub().tools()).includes(`${name}__new`), 60_000);
    requireSeen(await hub().call(name, "new", { id: "x1" }), "answer");
  });

  it("F29 a session that the server forgot is replaced automatically", async () => {
    const { name, up } = await hub().add({ transport: "http", steps: [{ do: "forget", nth: 1 }] });
    await hub().call(name, "act");
    await hub().untilState(name, "running");
    requireSeen(await hub().call(name, "act", { id: "x1" }), "answer");
    expect(up.ran()).toBeLessThanOrEqual(2);
  });

  it("F29 a session that the server forgot is invisible to the caller", async () => {
    const { name, up } = await hub().add({ transport: "http", steps: [{ do: "forget", nth: 1 }] });
    requireSeen(await hub().call(name, "act", { id: "x1" }), "answer");
    expect(up.ran()).toBe(1);
  });

  it("F30 down at start, back later: running without intervention", async () => {
    const up = new Upstream(hub().home.dir, { transport: "http" });
    const url = await up.listen();
    await up.stop();
    const name = hub().nextName();
    hub().added.set(name, up);
    await hub().addEntry(name, { url });
    await hub().until(async () => ["error", "disconnected"].includes((await hub().server(name)).status));
    await up.listen();
    await hub().until(async () => (await hub().server(name)).status === "running", 90_000);
    requireSeen(await hub().call(name, "act", { id: "x1" }), "answer");
  });

  it("F24 401 at the start has its own status and is not retried", async () => {
    const { name, up } = await hub().add({ transport: "http", steps: LOCKED });
    expect((await hub().server(name)).status).toBe("unauthenticated");
    expect(up.count("heard")).toBeLessThanOrEqual(2);
  });

  it.each([401, 403])("F24 a call refused with %d while lists work leaves the server running", async (status) => {
    const { name } = await hub().add({ transport: "http", steps: [{ on: "tools/call", do: "status", status }] });
    requireSeen(await hub().call(name, "act", { id: "x1" }), {
      code: status === 401 ? "UNAUTHENTICATED" : "FORBIDDEN",
    });
    expect(await hub().server(name)).toMatchObject({ status: "running", circuit: "closed", next_try: null });
  });

  it("F24 401 at the start is reported", async () => {
    const { name } = await hub().add({ transport: "http", steps: LOCKED });
    expect((await hub().server(name)).error).toMatchObject({ code: "UNAUTHENTICATED" });
  });
});
