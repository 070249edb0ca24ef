// Peer with a fake clock and a channel in memory: matching of replies, timeouts, cancellation, failures and arrays.

import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { HubError } from "../../errors.ts";
import { useFakeClock, makePeer, outcomeOf, cancellations, now } from "../../../../test/support/peer.ts";

useFakeClock();

describe("replies", () => {
  it("CL-6 each reaches its own request, in any order", async () => {
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

  it("CL-1 ids are increasing numbers, and the params are built with them", async () => {
    const { peer, sent, answer } = makePeer();
    const build = (id: number) => Buffer.from(`{"_meta":{"progressToken":${id}}}`);
    const asked = [1, 2, 3].map(() => peer.request("x", build, { timeoutMs: 0 }));
    expect(sent.map(({ message }) => message)).toEqual(
      [1, 2, 3].map((id) => ({ jsonrpc: "2.0", id, method: "x", params: { _meta: { progressToken: id } } })),
    );
    for (const id of [1, 2, 3]) answer(id);
    await Promise.all(asked);
  });

  it("CL-7 the transport gets each request's id and headers", async () => {
    const { ask, sent, answer } = makePeer();
    const headers = { "mcp-method": "tools/call" };
    const asked = ask("tools/call", { headers });
    expect(sent[0]?.request).toEqual({ id: 1, method: "tools/call", headers });
    answer(1);
    await asked;
  });

  it("CL-5 an error of the server is a reply with its own bytes", async () => {
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
  ])("F09 F11 %s settles no request, and is counted", async (_, id) => {
    const { ask, answer, peer } = makePeer();
    const asked = ask();
    answer(id, "wrong");
    expect(await now(asked)).toBe("open");
    expect(peer.counters.unclaimed).toBe(1);
    answer(1, "right");
    expect(await asked).toBe('"right"');
  });

  it("F10 of two replies the first is used", async () => {
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

describe("timeouts", () => {
  it("CL-3 F03 a request fails at its timeout, and is cancelled at the server once", async () => {
    const { ask, sent, peer } = makePeer();
    const asked = ask("tools/call");
    await vi.advanceTimersByTimeAsync(1000);
    expect(await asked).toBe("Timeout: No answer to tools/call within 1000 ms");
    await vi.advanceTimersByTimeAsync(1_000_000);
    expect(cancellations(sent)).toEqual([{ requestId: 1, reason: "The request timed out" }]);
    expect(peer.inFlight).toBe(0);
  });

  it("CL-3 F04 a reply in the last millisecond is in time", async () => {
    const { ask, answer, sent } = makePeer();
    const asked = ask();
    await vi.advanceTimersByTimeAsync(999);
    answer(1, "in time");
    expect(await asked).toBe('"in time"');
    expect(cancellations(sent)).toEqual([]);
  });

  it("CL-3 F05 a late reply is dropped and counted, and never reaches another request", async () => {
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

  it("CL-3 each request has its own timeout", async () => {
    const { ask } = makePeer();
    const [short, long] = [ask("a", { timeoutMs: 10 }), ask("b", { timeoutMs: 20 })];
    await vi.advanceTimersByTimeAsync(10);
    expect([await now(short), await now(long)]).toEqual(["Timeout: No answer to a within 10 ms", "open"]);
    await vi.advanceTimersByTimeAsync(10);
    expect(await long).toMatch(/^Timeout/);
  });

  it("CL-3 a timeout of 0 means no limit", async () => {
    const { ask, answer } = makePeer();
    const asked = ask("subscriptions/listen", { timeoutMs: 0 });
    await vi.advanceTimersByTimeAsync(1e9);
    expect(await now(asked)).toBe("open");
    answer(1);
    await asked;
  });

  it("CL-3 progress restarts the timeout", async () => {
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
  ])("CL-3 progress with %s restarts no timeout", async (_, token) => {
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
  ])("CL-3 progress never extends a request beyond %s", async (_, options, ceiling) => {
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

  it("CL-3 progress after the end of a request has no owner", async () => {
    const { ask, answer, progress, unowned } = makePeer();
    let received = 0;
    const asked = ask("x", { onNotification: () => received++ });
    answer(1);
    await asked;
    progress(1);
    expect([received, unowned.length]).toEqual([0, 1]);
  });
});

describe("cancelling", () => {
  it("CL-3 the caller's signal fails the request at once and cancels it at the server once", async () => {
    const { ask, sent, answer, peer } = makePeer();
    const caller = new AbortController();
    const asked = ask("tools/call", { signal: caller.signal });
    caller.abort();
    expect(await asked).toBe("Cancelled: tools/call was cancelled by the caller");
    expect(cancellations(sent)).toEqual([{ requestId: 1, reason: "The caller cancelled the request" }]);
    answer(1);
    expect(peer.counters.unclaimed).toBe(1);
  });

  it("CL-3 an aborted signal sends nothing", async () => {
    const { ask, sent, peer } = makePeer();
    expect(await ask("x", { signal: AbortSignal.abort() })).toMatch(/^Cancelled/);
    expect([sent.length, peer.inFlight]).toEqual([0, 0]);
  });

  it("CL-3 a signal that aborts after the reply does nothing, and its listener is removed", async () => {
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

  it("CL-3 one signal cancels many requests", async () => {
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

describe("failures", () => {
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

  it("F25 a request that fails in its transport does not affect the others", async () => {
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

  it("F03 params that cannot be built fail their request only", async () => {
    const { peer, sent } = makePeer();
    const build = (): Buffer => {
      throw new TypeError("no params");
    };
    expect(await outcomeOf(peer.request("x", build, { timeoutMs: 1000 }))).toBe("TypeError: no params");
    expect([sent.length, peer.inFlight]).toEqual([0, 0]);
  });
});

describe("arrays", () => {
  it("CL-9 of messages are processed one by one, also on the stream of a request", async () => {
    const { ask, receive, unowned, peer } = makePeer();
    const asked = ask();
    const news = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
    receive([news, { jsonrpc: "2.0", id: 1, result: { n: 1 } }], 1);
    expect(await asked).toBe('{"n":1}');
    expect([unowned.map(({ method }) => method), peer.counters.junk]).toEqual([[news.method], 0]);
  });

  it.each(["[]", "[[]]", "[7]", "[1,", `[${"1,".repeat(2000)}1]`])("SE-5 %s is junk and counted once", (text) => {
    const { peer } = makePeer();
    peer.receive(Buffer.from(text));
    expect(peer.counters).toEqual({ junk: 1, unclaimed: 0 });
  });
});
