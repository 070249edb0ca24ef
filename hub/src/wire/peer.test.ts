// The request table on a fake clock and a channel in memory: who gets which answer, when one gives up, and what is said then.

import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { HubError } from "../errors.ts";
import { failure, success, type NotificationMessage, type Reply, type RequestMessage } from "./jsonrpc.ts";
import { Peer, type OutgoingRequest, type RequestOptions } from "./peer.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  expect(vi.getTimerCount(), "timers left running").toBe(0);
  vi.useRealTimers();
});

interface Sent {
  readonly message: Record<string, unknown>;
  readonly request: OutgoingRequest | undefined;
}

/** A peer and what its transport saw. `abandoned` is given where closing a stream is what cancels. */
function makePeer({
  onRequest,
  abandon,
}: { onRequest?: (m: RequestMessage) => Reply | undefined; abandon?: boolean } = {}) {
  const sent: Sent[] = [];
  const unowned: NotificationMessage[] = [];
  const abandoned: number[] = [];
  const peer = new Peer(
    {
      send: (bytes, request) => sent.push({ message: JSON.parse(bytes.toString()), request }),
      ...(abandon === undefined ? {} : { abandon: (id: number) => (abandoned.push(id), abandon) }),
    },
    { onNotification: (message) => unowned.push(message), onRequest: onRequest ?? (() => undefined) },
  );
  const ask = (method = "tools/call", options: Partial<RequestOptions> = {}) =>
    outcomeOf(peer.request(method, () => undefined, { timeoutMs: 1000, ...options }));
  const receive = (message: unknown, via?: number) => peer.receive(Buffer.from(JSON.stringify(message)), via);
  const answer = (id: unknown, result: unknown = {}) => receive({ jsonrpc: "2.0", id, result });
  const progress = (progressToken: unknown, via?: number) =>
    receive({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: 1 } }, via);
  return { peer, sent, unowned, abandoned, ask, receive, answer, progress };
}

/** A promise that never rejects: its text is the result's bytes, or what went wrong. */
function outcomeOf(reply: Promise<Reply>): Promise<string> {
  return reply.then(
    (settled) => (settled.ok ? settled.result : settled.error).bytes.toString(),
    (error: unknown) => (error instanceof HubError ? `${error.kind}: ${error.message}` : String(error)),
  );
}

const cancellations = (sent: readonly Sent[]) =>
  sent.filter(({ message }) => message["method"] === "notifications/cancelled").map(({ message }) => message["params"]);

/** What has come of it so far, without waiting for more. */
async function now(outcome: Promise<string>): Promise<string> {
  return Promise.race([outcome, vi.advanceTimersByTimeAsync(0).then(() => "open")]);
}

describe("answers", () => {
  it("CL-6 each goes to its own request, in whatever order they come", async () => {
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray([1, 2, 3, 4, 5, 6], { minLength: 6 }), async (order) => {
        const { ask, answer, peer } = makePeer();
        const asked = order.map(() => ask());
        for (const id of order) answer(id, { id });
        expect(await Promise.all(asked)).toEqual(order.map((_, index) => `{"id":${index + 1}}`));
        expect([peer.inFlight, peer.counters.unclaimed]).toEqual([0, 0]);
      }),
    );
  });

  it("CL-1 ids are numbers that increase, and the params are built with them", async () => {
    const { peer, sent, answer } = makePeer();
    const build = (id: number) => Buffer.from(`{"_meta":{"progressToken":${id}}}`);
    const asked = [1, 2, 3].map(() => peer.request("x", build, { timeoutMs: 0 }));
    expect(sent.map(({ message }) => message)).toEqual(
      [1, 2, 3].map((id) => ({ jsonrpc: "2.0", id, method: "x", params: { _meta: { progressToken: id } } })),
    );
    for (const id of [1, 2, 3]) answer(id);
    await Promise.all(asked);
  });

  it("CL-7 the transport learns which request it carries, and its headers", async () => {
    const { ask, sent, answer } = makePeer();
    const headers = { "mcp-method": "tools/call" };
    const asked = ask("tools/call", { headers });
    expect(sent[0]?.request).toEqual({ id: 1, method: "tools/call", headers });
    answer(1);
    await asked;
  });

  it("CL-5 an error of the server is an answer like any other, with its own bytes", async () => {
    const { ask, peer } = makePeer();
    const asked = ask();
    peer.receive(Buffer.from('{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no","data":1.0}}'));
    expect(await asked).toBe('{"code":-32602,"message":"no","data":1.0}');
  });

  it.each([
    ["an id that was never given", 99],
    ["our id as a text", "1"],
    ["our id as a text with blanks", " 1"],
    ["another client's id", "c5f0"],
  ])("F09 F11 %s answers nothing, and is counted", async (_, id) => {
    const { ask, answer, peer } = makePeer();
    const asked = ask();
    answer(id, "wrong");
    expect(await now(asked)).toBe("open");
    expect(peer.counters.unclaimed).toBe(1);
    answer(1, "right");
    expect(await asked).toBe('"right"');
  });

  it("F10 of two answers the first counts", async () => {
    const { ask, answer, peer } = makePeer();
    const asked = ask();
    answer(1, "first");
    answer(1, "second");
    expect(await asked).toBe('"first"');
    expect(peer.counters.unclaimed).toBe(1);
  });

  it.each(["", "Listening on port 3000", "[]", "42", "null", '{"id":{},"result":1}', '{"jsonrpc":"2.0"}', "\xff"])(
    "CL-1 F06 junk is skipped and counted: %j",
    async (junk) => {
      const { ask, answer, peer } = makePeer();
      const asked = ask();
      peer.receive(Buffer.from(junk, "latin1"));
      expect(peer.counters).toEqual({ junk: 1, unclaimed: 0 });
      answer(1, "right");
      expect(await asked).toBe('"right"');
    },
  );
});

describe("time-outs", () => {
  it("CL-3 F03 a request fails when its time is over, and the server is told once", async () => {
    const { ask, sent, peer } = makePeer();
    const asked = ask("tools/call");
    await vi.advanceTimersByTimeAsync(1000);
    expect(await asked).toBe("Timeout: No answer to tools/call within 1000 ms");
    await vi.advanceTimersByTimeAsync(1_000_000);
    expect(cancellations(sent)).toEqual([{ requestId: 1, reason: "The request timed out" }]);
    expect(peer.inFlight).toBe(0);
  });

  it("CL-3 F04 an answer in the last millisecond is in time", async () => {
    const { ask, answer, sent } = makePeer();
    const asked = ask();
    await vi.advanceTimersByTimeAsync(999);
    answer(1, "in time");
    expect(await asked).toBe('"in time"');
    expect(cancellations(sent)).toEqual([]);
  });

  it("CL-3 F05 a late answer is dropped and counted, and never becomes another request's", async () => {
    const { ask, answer, peer } = makePeer();
    const late = ask();
    await vi.advanceTimersByTimeAsync(1000);
    expect(await late).toMatch(/^Timeout/);
    const next = ask();
    answer(1, "late");
    expect(await now(next)).toBe("open");
    expect(peer.counters.unclaimed).toBe(1);
    answer(2, "its own");
    expect(await next).toBe('"its own"');
  });

  it("CL-3 each request has its own clock", async () => {
    const { ask } = makePeer();
    const [short, long] = [ask("a", { timeoutMs: 10 }), ask("b", { timeoutMs: 20 })];
    await vi.advanceTimersByTimeAsync(10);
    expect([await now(short), await now(long)]).toEqual(["Timeout: No answer to a within 10 ms", "open"]);
    await vi.advanceTimersByTimeAsync(10);
    expect(await long).toMatch(/^Timeout/);
  });

  it("CL-3 no limit means none", async () => {
    const { ask, answer } = makePeer();
    const asked = ask("subscriptions/listen", { timeoutMs: 0 });
    await vi.advanceTimersByTimeAsync(1e9);
    expect(await now(asked)).toBe("open");
    answer(1);
    await asked;
  });

  it("CL-3 progress restarts the clock", async () => {
    const { ask, answer, progress } = makePeer();
    const asked = ask();
    for (let round = 0; round < 5; round++) {
      await vi.advanceTimersByTimeAsync(999);
      progress(1);
    }
    expect(await now(asked)).toBe("open");
    answer(1, "done");
    expect(await asked).toBe('"done"');
  });

  it.each([
    ["an unknown token", 7],
    ["the token as a text", "1"],
    ["no token", undefined],
  ])("CL-3 progress with %s restarts nothing", async (_, token) => {
    const { ask, progress, unowned } = makePeer();
    const asked = ask();
    await vi.advanceTimersByTimeAsync(999);
    progress(token);
    await vi.advanceTimersByTimeAsync(1);
    expect(await asked).toMatch(/^Timeout/);
    expect(unowned).toHaveLength(1);
  });

  it.each([
    ["its own ceiling", { timeoutMs: 1000, maxTotalMs: 2500 }, 2500],
    ["five minutes where none is given", { timeoutMs: 1000 }, 300_000],
    ["its time-out where that is longer", { timeoutMs: 400_000 }, 400_000],
  ])("CL-3 no progress carries a request beyond %s", async (_, options, ceiling) => {
    const { ask, progress, sent } = makePeer();
    const asked = ask("slow", options);
    for (let at = 0; at < ceiling - 500; at += 500) {
      await vi.advanceTimersByTimeAsync(500);
      progress(1);
    }
    await vi.advanceTimersByTimeAsync(499);
    expect(await now(asked)).toBe("open");
    await vi.advanceTimersByTimeAsync(1);
    expect(await asked).toBe(`Timeout: No answer to slow within ${ceiling} ms`);
    expect(cancellations(sent)).toHaveLength(1);
  });

  it("CL-3 progress after the end of a request is nobody's", async () => {
    const { ask, answer, progress, unowned } = makePeer();
    let heard = 0;
    const asked = ask("x", { onNotification: () => heard++ });
    answer(1);
    await asked;
    progress(1);
    expect([heard, unowned.length]).toEqual([0, 1]);
  });
});

describe("cancelling", () => {
  it("CL-3 the caller's signal ends the request at once and tells the server once", async () => {
    const { ask, sent, answer, peer } = makePeer();
    const caller = new AbortController();
    const asked = ask("tools/call", { signal: caller.signal });
    caller.abort();
    expect(await asked).toBe("Cancelled: tools/call was cancelled by the caller");
    expect(cancellations(sent)).toEqual([{ requestId: 1, reason: "The caller cancelled the request" }]);
    answer(1);
    expect(peer.counters.unclaimed).toBe(1);
  });

  it("CL-3 a signal that was aborted before sends nothing", async () => {
    const { ask, sent, peer } = makePeer();
    expect(await ask("x", { signal: AbortSignal.abort() })).toMatch(/^Cancelled/);
    expect([sent.length, peer.inFlight]).toEqual([0, 0]);
  });

  it("CL-3 a signal that aborts after the answer does nothing, and is not held on to", async () => {
    const { ask, sent, answer } = makePeer();
    const caller = new AbortController();
    const removed = vi.spyOn(caller.signal, "removeEventListener");
    const asked = ask("x", { signal: caller.signal });
    answer(1, "done");
    expect(await asked).toBe('"done"');
    caller.abort();
    expect(removed).toHaveBeenCalledOnce();
    expect(cancellations(sent)).toEqual([]);
  });

  it("CL-3 one signal for many requests ends them all", async () => {
    const { ask, sent } = makePeer();
    const caller = new AbortController();
    const asked = [1, 2, 3].map(() => ask("x", { signal: caller.signal }));
    caller.abort();
    expect(await Promise.all(asked)).toEqual(
      Array.from({ length: 3 }, () => "Cancelled: x was cancelled by the caller"),
    );
    expect(cancellations(sent)).toHaveLength(3);
  });

  it.each(["initialize", "server/discover"])("CL-2 %s is never cancelled by a notification", async (method) => {
    const { ask, sent } = makePeer();
    const caller = new AbortController();
    const [timed, aborted] = [ask(method), ask(method, { signal: caller.signal })];
    caller.abort();
    await vi.advanceTimersByTimeAsync(1000);
    expect(await timed).toMatch(/^Timeout/);
    expect(await aborted).toMatch(/^Cancelled/);
    expect(cancellations(sent)).toEqual([]);
  });

  it.each([
    ["is the cancellation (modern HTTP): nothing more is said", true, 0],
    ["is none (legacy HTTP): the server is told", false, 1],
  ])("F03 the transport closes the stream, which %s", async (_, abandon, told) => {
    const { ask, sent, abandoned } = makePeer({ abandon });
    const asked = ask();
    await vi.advanceTimersByTimeAsync(1000);
    expect(await asked).toMatch(/^Timeout/);
    expect(abandoned).toEqual([1]);
    expect(cancellations(sent)).toHaveLength(told);
  });
});

describe("when things fail", () => {
  it("F01 F25 a lost connection fails every request, once, and nothing more is sent", async () => {
    const { ask, peer, sent, answer } = makePeer();
    const caller = new AbortController();
    const asked = [ask(), ask("x", { timeoutMs: 0 }), ask("x", { signal: caller.signal })];
    peer.fail(new HubError("ConnectionFailed", "gone"));
    peer.fail(new HubError("ConnectionFailed", "gone again"));
    expect(await Promise.all(asked)).toEqual(Array.from({ length: 3 }, () => "ConnectionFailed: gone"));
    const before = sent.length;
    expect(await ask()).toBe("ConnectionFailed: gone");
    peer.notify("notifications/roots/list_changed");
    caller.abort();
    answer(1);
    expect([sent.length - before, peer.inFlight, peer.counters.unclaimed]).toEqual([0, 0, 1]);
  });

  it("F25 one request that fails in its transport leaves the others", async () => {
    const { ask, peer, answer, sent } = makePeer();
    const [first, second] = [ask(), ask()];
    peer.failRequest(1, new HubError("RateLimited", "slow down"));
    peer.failRequest(1, new HubError("RateLimited", "again"));
    peer.failRequest(77, new HubError("RateLimited", "whose?"));
    expect(await first).toBe("RateLimited: slow down");
    answer(2, "fine");
    expect(await second).toBe('"fine"');
    expect(cancellations(sent)).toEqual([]);
  });

  it("F03 params that cannot be built fail their request and leave nothing behind", async () => {
    const { peer, sent } = makePeer();
    const build = (): Buffer => {
      throw new TypeError("no params");
    };
    expect(await outcomeOf(peer.request("x", build, { timeoutMs: 1000 }))).toBe("TypeError: no params");
    expect([sent.length, peer.inFlight]).toEqual([0, 0]);
  });
});

describe("whose a message is", () => {
  const notification = (method: string, params: Record<string, unknown> = {}) => ({ jsonrpc: "2.0", method, params });
  const log = notification("notifications/message", { level: "info", data: "x" });
  const changed = notification("notifications/tools/list_changed");
  const updated = notification("notifications/resources/updated", { uri: "a:b" });
  const acknowledged = notification("notifications/subscriptions/acknowledged");

  /** Two open requests (or one), then one message: who heard it? */
  async function heardBy(
    message: unknown,
    { via, open }: { via?: number; open: readonly string[] },
  ): Promise<string[]> {
    const { ask, receive, answer, unowned } = makePeer();
    const heard: string[] = [];
    const asked = open.map((method, index) =>
      ask(method, { onNotification: () => heard.push(`request ${index + 1}`) }),
    );
    receive(message, via);
    if (unowned.length > 0) heard.push("connection");
    open.forEach((_, index) => answer(index + 1));
    await Promise.all(asked);
    return heard;
  }

  it.each([
    ["progress goes by its token", notification("notifications/progress", { progressToken: 2 }), {}, "request 2"],
    [
      "progress goes by its token, on another's stream too",
      notification("notifications/progress", { progressToken: 2 }),
      { via: 1 },
      "request 2",
    ],
    ["a log on a request's stream is its", log, { via: 2 }, "request 2"],
    ["a log without a stream is nobody's where several are open", log, {}, "connection"],
    ["a log without a stream is the only request's", log, { open: ["tools/call"] }, "request 1"],
    ["a log without a stream and without a request", log, { open: [] }, "connection"],
    ["a log on the stream of a request that ended", log, { via: 9 }, "connection"],
    ["a changed list without a stream is everybody's", changed, { open: ["tools/call"] }, "connection"],
    ["a changed list is everybody's on a call's stream too", changed, { via: 1 }, "connection"],
    ["a changed resource is everybody's on a call's stream too", updated, { via: 1 }, "connection"],
    [
      "a changed list on a subscription is the subscriber's",
      changed,
      { via: 1, open: ["subscriptions/listen"] },
      "request 1",
    ],
    [
      "a changed resource on a subscription is the subscriber's",
      updated,
      { via: 1, open: ["subscriptions/listen"] },
      "request 1",
    ],
    ["an acknowledgement is the subscriber's", acknowledged, { via: 1, open: ["subscriptions/listen"] }, "request 1"],
    ["what we do not know stays on its stream", notification("notifications/x"), { via: 2 }, "request 2"],
    ["what we do not know and has no stream", notification("notifications/x"), {}, "connection"],
  ])("GR-7 %s", async (_, message, options, expected) => {
    expect(await heardBy(message, { open: ["tools/call", "tools/call"], ...options })).toEqual([expected]);
  });

  it.each([
    ["cancelled", (_: number, abort: AbortController) => abort.abort()],
    ["timed out", (timeoutMs: number) => void vi.advanceTimersByTime(timeoutMs)],
  ])("T34 a log may be of a request that was %s: not the only one's that is left", async (_, giveUp) => {
    const { ask, receive, answer, unowned } = makePeer();
    const heard: string[] = [];
    const abort = new AbortController();
    const left = ask("tools/call", { signal: abort.signal });
    const stays = ask("tools/call", { timeoutMs: 0, onNotification: () => heard.push("stays") });
    giveUp(1000, abort);
    await left;
    receive(log);
    expect([heard, unowned.length]).toEqual([[], 1]);
    // Its late answer says that the server is done with it.
    answer(1);
    receive(log);
    expect([heard, unowned.length]).toEqual([["stays"], 1]);
    answer(2);
    await stays;
  });

  it("T34 a server that never answers what was cancelled is done with it at some time", async () => {
    const { ask, receive, answer } = makePeer();
    const heard: string[] = [];
    const late = ask("tools/call", { timeoutMs: 10, onNotification: () => heard.push("late") });
    await vi.advanceTimersByTimeAsync(10);
    await late;
    const stays = ask("tools/call", { timeoutMs: 0, onNotification: () => heard.push("stays") });
    receive(log);
    await vi.advanceTimersByTimeAsync(300_000);
    receive(log);
    expect(heard).toEqual(["stays"]);
    answer(2);
    await stays;
  });

  it("F11 an answer on the stream of another request answers nothing", async () => {
    const { ask, receive, peer } = makePeer();
    const asked = [ask(), ask()];
    receive({ jsonrpc: "2.0", id: 2, result: "foreign" }, 1);
    receive({ jsonrpc: "2.0", id: 2, result: "own" }, 2);
    receive({ jsonrpc: "2.0", id: 1, result: "first" });
    expect(await Promise.all(asked)).toEqual(['"first"', '"own"']);
    expect(peer.counters.unclaimed).toBe(1);
  });

  it("GR-7 a message keeps the bytes of its params", async () => {
    const { ask, answer, peer } = makePeer();
    const params = '{"progressToken":1,"progress":1.0,"message":"\\u00e9"}';
    const heard: string[] = [];
    const asked = ask("x", { onNotification: (message) => heard.push(message.params?.bytes.toString() ?? "") });
    peer.receive(Buffer.from(`{"jsonrpc":"2.0","method":"notifications/progress","params":${params}}`));
    answer(1);
    await asked;
    expect(heard).toEqual([params]);
  });

  it("CL-1 a server's own request is answered under its own id, text or number", () => {
    const onRequest = ({ method }: RequestMessage) =>
      method === "ping" ? success({}) : failure({ code: -32601, message: method });
    const { receive, sent } = makePeer({ onRequest });
    receive({ jsonrpc: "2.0", id: "1", method: "ping" });
    receive({ jsonrpc: "2.0", id: 1, method: "roots/list" });
    expect(sent.map(({ message }) => message)).toEqual([
      { jsonrpc: "2.0", id: "1", result: {} },
      { jsonrpc: "2.0", id: 1, error: { code: -32601, message: "roots/list" } },
    ]);
  });

  it("CL-1 a request that nobody wants to answer gets no answer", () => {
    const { receive, sent } = makePeer();
    receive({ jsonrpc: "2.0", id: 1, method: "ping" });
    expect(sent).toEqual([]);
  });

  it("CL-2 a notification of ours carries its params, or none", () => {
    const { peer, sent } = makePeer();
    peer.notify("notifications/initialized");
    peer.notify("notifications/x", { a: 1 });
    expect(sent).toEqual([
      { message: { jsonrpc: "2.0", method: "notifications/initialized" }, request: undefined },
      { message: { jsonrpc: "2.0", method: "notifications/x", params: { a: 1 } }, request: undefined },
    ]);
  });
});

describe("whose a question is, on a pipe with several requests", () => {
  /** Asks as each of these callers; the server's questions go to `asked`, and stay open. */
  function openFor(...callers: (string | undefined)[]) {
    const made = makePeer({ onRequest: () => failure({ code: -32601, message: "nobody" }) });
    const asked: number[] = [];
    const controllers = callers.map(() => new AbortController());
    callers.forEach((caller, index) => {
      void made.ask("tools/call", {
        signal: controllers[index]?.signal ?? new AbortController().signal,
        timeoutMs: 0,
        ...(caller === undefined ? {} : { caller: () => caller }),
        onRequest: () => {
          asked.push(index);
          return new Promise(() => undefined);
        },
      });
    });
    const question = (id: string) => made.receive({ jsonrpc: "2.0", id, method: "elicitation/create", params: {} });
    return { ...made, asked, question, cancel: (index: number) => controllers[index]?.abort() };
  }

  it("GR-7 after a call was cancelled, the same caller can be asked, and another cannot", () => {
    const same = openFor("a", "a");
    same.cancel(0);
    same.question("q");
    expect(same.asked).toEqual([1]);
    for (const callers of [
      ["a", "b"],
      [undefined, undefined],
      [undefined, "b"],
    ]) {
      const others = openFor(...callers);
      others.cancel(0);
      others.question("q");
      expect(others.asked).toEqual([]);
    }
  });

  it("GR-7 of one caller's calls, the one that waits for no answer itself is asking", () => {
    const { asked, question, ask } = openFor("a");
    question("first");
    question("second");
    expect(asked).toEqual([0, 0]);
    vi.advanceTimersByTime(100);
    const late: string[] = [];
    const onRequest = () => {
      late.push("asked");
      return new Promise<Reply>(() => undefined);
    };
    void ask("tools/call", { timeoutMs: 0, caller: () => "a", onRequest });
    question("third");
    question("fourth, together with it");
    expect([asked, late]).toEqual([
      [0, 0],
      ["asked", "asked"],
    ]);
    vi.advanceTimersByTime(100);
    question("from either, for all that can be known");
    expect([asked.length, late.length]).toEqual([2, 2]);
  });

  it("GR-7 while another caller's call waits for an answer, nobody is asked", () => {
    const { asked, question, ask } = openFor("a");
    question("first");
    const onRequest = vi.fn<() => Promise<Reply>>();
    void ask("tools/call", { timeoutMs: 0, caller: () => "b", onRequest });
    question("second");
    expect(asked).toEqual([0]);
    expect(onRequest).not.toHaveBeenCalled();
  });

  it.each(["tools/list", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"])(
    "GR-7 %s is the hub's own: it hides nobody's call, neither open nor given up",
    (method) => {
      const { asked, question, ask } = openFor("a");
      const controller = new AbortController();
      void ask(method, { timeoutMs: 0, signal: controller.signal }).catch(() => undefined);
      question("while it is open");
      controller.abort();
      question("when it was given up");
      expect(asked).toEqual([0, 0]);
    },
  );

  it("GR-7 of two calls at work, even of one caller, neither is asked", () => {
    const { asked, question } = openFor("a", "a");
    question("q");
    expect(asked).toEqual([]);
  });
});

describe("arrays", () => {
  it("CL-9 of messages are taken one by one, also where they stand on the stream of a request", async () => {
    const { ask, receive, unowned, peer } = makePeer();
    const asked = ask();
    const news = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
    receive([news, { jsonrpc: "2.0", id: 1, result: { n: 1 } }], 1);
    expect(await asked).toBe('{"n":1}');
    expect([unowned.map(({ method }) => method), peer.counters.junk]).toEqual([[news.method], 0]);
  });

  it.each(["[]", "[[]]", "[7]", "[1,", `[${"1,".repeat(2000)}1]`])("SE-5 %s is junk, and counted once", (text) => {
    const { peer } = makePeer();
    peer.receive(Buffer.from(text));
    expect(peer.counters).toEqual({ junk: 1, unclaimed: 0 });
  });
});
