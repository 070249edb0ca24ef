// F01 to F20 and F43: faults of servers on stdio: invalid output, crashes, and processes that do not end.

import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, it } from "vitest";
import { isRunning, processesWithMark } from "../support/processes.ts";
import { OTHER } from "./fault-hub.ts";
import { memoryOf } from "./post-conditions.ts";
import { family, inBatches, requireSeen, rows, together, type Row } from "./rows.ts";
import type { Fault, Scenario } from "./scenario.ts";
import { HANG_MS } from "./settings.ts";

const does = (fault: Fault, more: Scenario = {}): Scenario => ({ ...more, steps: [fault] });
const GONE = { code: "SERVICE_UNAVAILABLE", kind: "ServerNotRunning" } as const;
type Era = NonNullable<Scenario["era"]>;
const HANGS = { timeouts: { requestMs: HANG_MS } };
const TIMED_OUT = { code: "NETWORK_ERROR", kind: "Timeout" } as const;

const ENDINGS: Row[] = [
  {
    id: "F01",
    what: "exits in the middle of a call",
    scenario: does({ do: "exit", code: 7, stderr: "about to crash" }),
    sees: { ...GONE, message: "The server exited with code 7" },
    passes: "error",
  },
  {
    id: "F01",
    what: "exits in the middle of a call, modern",
    scenario: does({ do: "exit", code: 7 }, { era: "modern" }),
    sees: { ...GONE, message: "The server exited with code 7" },
    passes: "error",
  },
  {
    id: "F01",
    what: "exits with 0 in the middle of a call: the call fails",
    scenario: does({ do: "exit", code: 0 }),
    sees: { ...GONE, message: "The server exited with code 0" },
    passes: "error",
  },
  {
    id: "F01",
    what: "writes half an answer and exits",
    scenario: does({ do: "half", code: 3 }),
    sees: { ...GONE, message: "The server exited with code 3" },
    passes: "error",
  },
  ...(["SIGKILL", "SIGSEGV", "SIGABRT"] as const).map((signal): Row => ({
    id: "F02",
    what: `dies by ${signal}, and the status names it`,
    scenario: does({ do: "signal", signal }),
    sees: { ...GONE, message: `The server was ended by ${signal}` },
    passes: "error",
  })),
  {
    id: "F01",
    what: "closes its stdout and keeps running",
    scenario: does({ do: "closeStdout" }),
    entry: { timeouts: { requestMs: 20_000 } },
    sees: { ...GONE, message: "The server closed its output" },
    passes: "error",
  },
];

const RESTARTS: Row[] = [
  {
    id: "F01",
    what: "exits once in the middle of a call: it is restarted, and the call is not retried",
    scenario: { steps: [{ do: "exit", code: 7, nth: 1 }] },
    sees: { ...GONE },
    passes: "error",
    thenWorks: true,
  },
  {
    id: "F08",
    what: "is restarted after an endless line",
    heavy: true,
    scenario: { steps: [{ do: "huge", bytes: 20 << 20, nth: 1 }] },
    sees: { code: "NETWORK_ERROR", kind: "ProtocolError" },
    passes: "error",
    thenWorks: true,
  },
];

const OUTPUT: Row[] = [
  ...(
    [
      ["broken JSON", { lines: ['{"jsonrpc":"2.0","id":', "}", "{'id':1}"] }],
      ["JSON that is no message", { lines: ["[]", "[[]]", "42", "null", '"text"', "true", "{}", '{"jsonrpc":"2.0"}'] }],
      ["other programs' output", { lines: ["npm warn deprecated everything", "", "   ", "\t", "Listening on 3000"] }],
      ["bytes that are no text", { base64: Buffer.from([0xff, 0xfe, 0x00, 0x80, 0xc0, 0x0a]).toString("base64") }],
      ["ids of no type that we use", { lines: ['{"jsonrpc":"2.0","id":{},"result":{}}', '{"id":[1],"result":{}}'] }],
      ["a batch of answers to nobody", { lines: ['[{"jsonrpc":"2.0","id":4000,"result":{}}]'] }],
      ["a null id", { lines: ['{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}'] }],
    ] as const
  ).map(([what, noise]): Row => ({
    id: "F06",
    what: `${what} before the answer`,
    scenario: does({ do: "garbage", ...noise }),
    sees: "answer",
    thenWorks: true,
  })),
  { id: "F07", what: "lines that end with CRLF", scenario: does({ do: "crlf" }), sees: "answer", thenWorks: true },
  { id: "F07", what: "an answer byte by byte", scenario: does({ do: "slices", size: 1 }), sees: "answer" },
  {
    id: "F07",
    what: "an answer byte by byte, modern",
    scenario: does({ do: "slices", size: 1 }, { era: "modern" }),
    sees: "answer",
  },
  {
    id: "F09",
    what: "answers with unknown ids",
    scenario: does({ do: "wrongId", ids: [0, 999_999, -1, 1.5, null, "x"] }),
    sees: "answer",
    thenWorks: true,
  },
  {
    id: "F10",
    what: "the same answer twice: the first one counts",
    scenario: does({ do: "twice" }),
    sees: "answer",
    thenWorks: true,
  },
  {
    id: "F11",
    what: "the right id as a string does not match",
    scenario: does({ do: "wrongId", ids: ["text"] }),
    sees: "answer",
    thenWorks: true,
  },
  {
    id: "F12",
    what: "100,000 notifications before the answer",
    heavy: true,
    scenario: does({ do: "flood", count: 100_000 }),
    entry: { timeouts: { requestMs: 60_000 } },
    sees: "answer",
  },
  {
    id: "F12",
    what: "100,000 unsolicited progress notifications",
    heavy: true,
    scenario: does({
      do: "flood",
      count: 100_000,
      method: "notifications/progress",
      params: { progressToken: 1, progress: 1 },
    }),
    entry: { timeouts: { requestMs: 60_000 } },
    sees: "answer",
  },
  {
    id: "F12",
    what: "64 MB on stderr before the answer",
    heavy: true,
    scenario: does({ do: "floodStderr", bytes: 64 << 20 }),
    entry: { timeouts: { requestMs: 60_000 } },
    sees: "answer",
    thenWorks: false,
  },
  {
    id: "F16",
    what: "a JSON-RPC error of the server passes unchanged and is no failure of the server",
    scenario: does({ do: "error", error: { code: -32042, message: "no such luck" } }),
    sees: { rpc: -32042 },
  },
  {
    id: "F16",
    what: "a tool error passes unchanged and is no failure of the server",
    scenario: does({ do: "toolError" }),
    sees: "tool error",
  },
];

/** Ordered by fault and not by era, so that the slowest rows run concurrently. */
const TIME: Row[] = [
  (era: Era): Row => ({
    id: "F03",
    what: `never answers, ${era}`,
    scenario: does({ do: "silence" }, { era }),
    entry: HANGS,
    sees: TIMED_OUT,
  }),
  (era: Era): Row => ({
    id: "F43",
    what: `stands still (SIGSTOP), ${era}`,
    scenario: does({ do: "freeze" }, { era }),
    entry: HANGS,
    sees: TIMED_OUT,
  }),
  (era: Era): Row => ({
    id: "F05",
    what: `answers after the time-out, ${era}: the next call gets its own answer`,
    scenario: { era, steps: [{ do: "late", ms: HANG_MS + 300, nth: 1 }] },
    entry: HANGS,
    sees: TIMED_OUT,
    thenWorks: true,
  }),
  (era: Era): Row => ({
    id: "F04",
    what: `answers late but in time, ${era}`,
    scenario: does({ do: "late", ms: HANG_MS / 3 }, { era }),
    entry: { timeouts: { requestMs: HANG_MS * 3 } },
    sees: "answer",
  }),
].flatMap((row) => [row("legacy"), row("modern")]);

family("a server on stdio", (of) => {
  const { hub } = of;
  rows(ENDINGS, of);
  rows(RESTARTS, of);
  rows(OUTPUT, of);
  rows(TIME, of);

  it("F01 every running call fails once, and the tools leave the lists", async () => {
    const { name, up } = await hub().add({
      steps: [
        { do: "silence", first: 4 },
        { do: "exit", code: 7, tool: "look" },
      ],
    });
    expect(await hub().tools()).toContain(`${name}__act`);
    const open = together(hub(), name, 4);
    await hub().until(() => up.ran() === 4);
    const crash = await hub().call(name, "look", { id: "x1" });
    for (const outcome of [crash, ...(await open)]) requireSeen(outcome, GONE);
    await hub().passed(name, "error");
    expect(up.ran("act")).toBe(4);
  });

  it("F03 a call that times out is cancelled at the server", async () => {
    const { name, up } = await hub().add(does({ do: "silence" }), HANGS);
    requireSeen(await hub().call(name, "act"), TIMED_OUT);
    await up.until("told", { method: "notifications/cancelled" });
    expect(up.ran()).toBe(1);
  });

  it("F07 an answer in pieces of any size is the same answer", async () => {
    const { name } = await hub().add({
      steps: Array.from({ length: 40 }, (_, n) => ({ do: "slices", size: n + 1, nth: n + 1 }) as const),
    });
    for (let n = 0; n < 40; n++) {
      const id = `é✓𝄞 ${n}`;
      requireSeen(await hub().call(name, "act", { id }), "answer", id);
    }
  });

  it("F06 F09 random garbage between answers is ignored", async () => {
    const lines = fc.sample(fc.array(fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", " "))), {
      numRuns: 20,
      seed: 43,
    });
    const { name } = await hub().add({
      steps: lines.map((noise, n) => ({ do: "garbage", lines: noise, nth: n + 1 }) as const),
    });
    for (let n = 0; n < lines.length; n++) requireSeen(await hub().call(name, "act", { id: `${n}` }), "answer", `${n}`);
  });

  it("F08 T24 of a gigabyte without a newline 16 MB are read, and memory stays bounded", async () => {
    const peakBefore = memoryOf(hub().pid, "VmHWM");
    const { name } = await hub().add(does({ do: "huge", bytes: 1 << 30 }), { timeouts: { requestMs: 60_000 } });
    requireSeen(await hub().call(name, "act", { deadlineMs: 60_000 }), {
      code: "NETWORK_ERROR",
      kind: "ProtocolError",
    });
    await hub().passed(name, "error");
    const grown = (memoryOf(hub().pid, "VmHWM") - peakBefore) >> 20;
    process.stderr.write(`a line of 1 GB: the hub's peak grew by ${grown} MB\n`);
    expect(grown).toBeLessThan(48);
  });

  it("F13 a request that the hub cannot serve is refused, and the call is answered", async () => {
    const { name, up } = await hub().add(does({ do: "asks", method: "sampling/createMessage" }));
    requireSeen(await hub().call(name, "act", { id: "x1" }), "answer");
    await up.until("answered", { error: -32601 });
  });

  it("F03 a server that stops reading blocks no other", async () => {
    const { name } = await hub().add({ steps: [{ do: "deaf" }] }, HANGS);
    const deaf = together(hub(), name, 3);
    const { text } = await hub().call(OTHER, "echo", { id: "not blocked" });
    expect(text).toBe("not blocked");
    for (const outcome of await deaf) requireSeen(outcome, TIMED_OUT);
  });

  it("F20 a crash loop is reported, and restarts back off", async () => {
    const crash = { do: "exit", code: 3 } as const;
    const { name, up } = await hub().add({
      starts: [null, ...Array.from({ length: 50 }, () => crash)],
      steps: [crash],
    });
    await hub().call(name, "act");
    await hub().until(async () => (await hub().server(name)).next_try?.crash_loop === true, 120_000);
    const starts = up.count("start");
    expect(starts).toBeGreaterThanOrEqual(5);
    await hub().until(() => up.count("start") > starts, 120_000);
    requireSeen(await hub().call(name, "act"), { code: "SERVICE_UNAVAILABLE" });
  });

  it("F20 a server that crashes twice and then works recovers by itself", async () => {
    const crash = { do: "exit", code: 3 } as const;
    const { name, up } = await hub().add({ starts: [null, crash, crash], steps: [{ ...crash, nth: 1 }] });
    await hub().call(name, "act");
    await hub().until(() => up.count("start") >= 4, 60_000);
    await hub().untilState(name, "running");
    requireSeen(await hub().call(name, "act", { id: "x2" }), "answer", "x2");
    expect(up.ran()).toBe(2);
  });
});

family("a server on stdio that starts", (of) => {
  const { hub } = of;

  const FAILING: readonly (readonly [id: string, what: string, scenario: Scenario, error: object])[] = [
    [
      "F14",
      "exits before the handshake",
      { starts: Array.from({ length: 50 }, () => ({ do: "exit", code: 3, stderr: "no configuration" })) },
      { code: "SERVICE_UNAVAILABLE", kind: "ProcessSpawnFailed", detail: "no configuration" },
    ],
    [
      "F14",
      "exits on the handshake",
      { steps: [{ on: "initialize", do: "exit", code: 4, stderr: "bad handshake" }] },
      { code: "SERVICE_UNAVAILABLE", kind: "ProcessSpawnFailed", detail: "bad handshake" },
    ],
    [
      "F14",
      "exits while its tools are listed",
      { steps: [{ on: "tools/list", do: "exit", code: 5 }] },
      { code: "SERVICE_UNAVAILABLE", message: "The server exited with code 5" },
    ],
    [
      "F15",
      "never answers the handshake",
      {
        steps: [
          { on: "server/discover", do: "silence" },
          { on: "initialize", do: "silence" },
        ],
      },
      { code: "NETWORK_ERROR", kind: "Timeout", message: "Handshake timed out" },
    ],
    [
      "F16",
      "wants a version that nobody knows",
      { hello: { protocolVersion: "2099-01-01" } },
      { code: "NETWORK_ERROR", kind: "InitializationFailed" },
    ],
    [
      "F16",
      "refuses the handshake",
      { steps: [{ on: "initialize", do: "error", error: { code: -32000, message: "not today" } }] },
      { code: "NETWORK_ERROR", kind: "InitializationFailed", detail: "not today" },
    ],
    [
      "F16",
      "answers the list with an error",
      { steps: [{ on: "tools/list", do: "error", error: { code: -32603, message: "no list" } }] },
      { code: "NETWORK_ERROR", kind: "ProtocolError", detail: "no list" },
    ],
  ];
  const isAnError = ([id, what]: (typeof FAILING)[number]) =>
    `${id} ${what}: it is an error with its reason, and no process is left`;
  inBatches(FAILING, isAnError, async ([, , scenario, error]) => {
    const { name } = await hub().add({ shout: "API_KEY", ...scenario }, { timeouts: { startMs: 4000 } });
    const shown = await hub().passed(name, "error");
    const { detail, ...rest } = error as { detail?: string };
    expect(shown.error).toMatchObject(rest);
    if (detail !== undefined) expect(shown.error.detail).toContain(detail);
    expect(await hub().tools()).not.toContainEqual(expect.stringContaining(`${name}__`));
    requireSeen(await hub().call(name, "act"), { code: "SERVICE_UNAVAILABLE" });
  });

  const WORKING: readonly (readonly [id: string, what: string, scenario: Scenario])[] = [
    ["F16", "exits on the modern question", { steps: [{ on: "server/discover", do: "exit", code: 1, nth: 1 }] }],
    ["F16", "stays silent on the modern question", { steps: [{ on: "server/discover", do: "silence" }] }],
    [
      "F16",
      "answers the modern question with nonsense",
      { steps: [{ on: "server/discover", do: "error", error: { code: 0, message: "" } }] },
    ],
    [
      "F16",
      "says capabilities that make no sense",
      { hello: { capabilities: { tools: {}, prompts: 7, logging: "yes" } } },
    ],
    [
      "F06",
      "writes garbage around the handshake",
      { steps: [{ on: "initialize", do: "garbage", lines: ["hello", "{"] }] },
    ],
    ["F14", "takes its time", { starts: [{ do: "late", ms: 1500 }] }],
  ];
  const runs = ([id, what]: (typeof WORKING)[number]) => `${id} ${what}: it runs all the same`;
  inBatches(WORKING, runs, async ([, , scenario]) => {
    const { name } = await hub().add(scenario);
    await hub().untilState(name, "running");
    requireSeen(await hub().call(name, "act", { id: "x1" }), "answer");
  });

  it("F14 LC-8 a server that is enabled and does not start is disabled again", async () => {
    const { name } = await hub().add({ steps: [{ on: "initialize", do: "exit", code: 4 }] }, { enabled: false });
    const { status, json } = await hub().api(`/servers/${name}/enable`, { method: "POST" });
    expect([status, json.code]).toEqual([503, "SERVICE_UNAVAILABLE"]);
    expect((await hub().server(name)).config.enabled).toBe(false);
    expect(readFileSync(`${hub().home.dir}/config/mcp_server.json`, "utf8")).toMatch(/"enabled": ?false/);
  });

  it("F16 tools may change at the next start", async () => {
    const { name } = await hub().add({ toolsByStart: [["act"], ["act", "new"]] });
    await hub().untilState(name, "running");
    expect(await hub().tools()).not.toContain(`${name}__new`);
    await hub().api(`/servers/${name}/restart`, { method: "POST" });
    await hub().until(async () => (await hub().tools()).includes(`${name}__new`));
    requireSeen(await hub().call(name, "new", { id: "x1" }), "answer");
  });
});

family("a server on stdio that is stopped", (of) => {
  const { hub } = of;

  it("F18 a server that ignores EOF and SIGTERM is killed", async () => {
    const { name, up } = await hub().add({ ignoreEof: true, ignoreSigterm: true });
    await hub().untilState(name, "running");
    const startedAt = performance.now();
    const { json } = await hub().api(`/servers/${name}/stop`, { method: "POST" });
    const ms = performance.now() - startedAt;
    expect(json.status).toBe("stopped");
    expect(up.count("eof")).toBe(1);
    process.stderr.write(`a stubborn server was stopped after ${Math.round(ms)} ms\n`);
    // Not before the grace period has ended.
    expect(ms).toBeGreaterThan(4500);
  });

  it.each([
    ["in its group", false],
    ["in a session of its own", true],
  ])("F19 a helper %s that ignores SIGTERM: no process is left", async (_, detached) => {
    const { name, up } = await hub().add({ steps: [{ do: "fork", detached }] });
    requireSeen(await hub().call(name, "act", { id: "x1" }), "answer");
    const helper = up.seen.find(({ what }) => what === "helper")?.helper ?? 0;
    expect(isRunning(helper)).toBe(true);
    expect(processesWithMark(hub().home.mark)).toContain(helper);
    await hub().api(`/servers/${name}/stop`, { method: "POST" });
    expect(processesWithMark(hub().home.mark)).not.toContain(helper);
  });

  it("F19 a helper left by a crash is killed too", async () => {
    const { name, up } = await hub().add({
      steps: [
        { do: "fork", detached: true, nth: 1 },
        { do: "exit", nth: 2 },
      ],
    });
    await hub().call(name, "act");
    await hub().call(name, "act");
    await hub().passed(name, "error");
    const helper = up.seen.find(({ what }) => what === "helper")?.helper ?? 0;
    await hub().until(() => !processesWithMark(hub().home.mark).includes(helper));
  });

  it("F18 a suspended server (SIGSTOP) is killed", async () => {
    const { name } = await hub().add({ steps: [{ do: "freeze" }] }, HANGS);
    await hub().call(name, "act");
    const { json } = await hub().api(`/servers/${name}/stop`, { method: "POST" });
    expect(json.status).toBe("stopped");
  });
});
