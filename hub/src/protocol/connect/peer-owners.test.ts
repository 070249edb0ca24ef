// The request to which a message of a server belongs, by Peer with a channel in memory and a fake clock.

import { describe, expect, it, vi } from "vitest";
import { failure, success, type Reply, type RequestMessage } from "../rpc/jsonrpc.ts";
import { useFakeClock, makePeer } from "../../../../test/support/peer.ts";

useFakeClock();

describe("the owner of a message", () => {
  const notification = (method: string, params: Record<string, unknown> = {}) => ({ jsonrpc: "2.0", method, params });
  const log = notification("notifications/message", { level: "info", data: "x" });
  const changed = notification("notifications/tools/list_changed");
  const updated = notification("notifications/resources/updated", { uri: "a:b" });
  const acknowledged = notification("notifications/subscriptions/acknowledged");

  /** Two open requests (or one), then one message: its owner. */
  async function heardBy(
    message: unknown,
    { via, open }: { via?: number; open: readonly string[] },
  ): Promise<string[]> {
    const { ask, receive, answer, unowned } = makePeer();
    const received: string[] = [];
    const asked = open.map((method, index) =>
      ask(method, { onNotification: () => received.push(`request ${index + 1}`) }),
    );
    receive(message, via);
    if (unowned.length > 0) received.push("connection");
    open.forEach((_, index) => answer(index + 1));
    await Promise.all(asked);
    return received;
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
  ])(
    "T34 a log message may belong to a request that was %s, so the only open one does not get it",
    async (_, giveUp) => {
      const { ask, receive, answer, unowned } = makePeer();
      const received: string[] = [];
      const abort = new AbortController();
      const left = ask("tools/call", { signal: abort.signal });
      const stays = ask("tools/call", { timeoutMs: 0, onNotification: () => received.push("stays") });
      giveUp(1000, abort);
      await left;
      receive(log);
      expect([received, unowned.length]).toEqual([[], 1]);
      // A late reply means that the server is done with it.
      answer(1);
      receive(log);
      expect([received, unowned.length]).toEqual([["stays"], 1]);
      answer(2);
      await stays;
    },
  );

  it("T34 a cancelled request without a reply is forgotten after a while", async () => {
    const { ask, receive, answer } = makePeer();
    const received: string[] = [];
    const late = ask("tools/call", { timeoutMs: 10, onNotification: () => received.push("late") });
    await vi.advanceTimersByTimeAsync(10);
    await late;
    const stays = ask("tools/call", { timeoutMs: 0, onNotification: () => received.push("stays") });
    receive(log);
    await vi.advanceTimersByTimeAsync(300_000);
    receive(log);
    expect(received).toEqual(["stays"]);
    answer(2);
    await stays;
  });

  it("F11 a reply on the stream of another request is ignored", async () => {
    const { ask, receive, peer } = makePeer();
    const asked = [ask(), ask()];
    receive({ jsonrpc: "2.0", id: 2, result: "foreign" }, 1);
    receive({ jsonrpc: "2.0", id: 2, result: "own" }, 2);
    receive({ jsonrpc: "2.0", id: 1, result: "first" });
    expect(await Promise.all(asked)).toEqual(['"first"', '"own"']);
    expect(peer.counters.unclaimed).toBe(1);
  });

  it("GR-7 a notification keeps the bytes of its params", async () => {
    const { ask, answer, peer } = makePeer();
    const params = '{"progressToken":1,"progress":1.0,"message":"\\u00e9"}';
    const received: string[] = [];
    const asked = ask("x", { onNotification: (message) => received.push(message.params?.bytes.toString() ?? "") });
    peer.receive(Buffer.from(`{"jsonrpc":"2.0","method":"notifications/progress","params":${params}}`));
    answer(1);
    await asked;
    expect(received).toEqual([params]);
  });

  it("CL-1 the reply to a server request has its own id, text or number", () => {
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

  it("CL-1 a server request that the handler ignores gets no reply", () => {
    const { receive, sent } = makePeer();
    receive({ jsonrpc: "2.0", id: 1, method: "ping" });
    expect(sent).toEqual([]);
  });

  it("CL-2 our notifications have their params, or none", () => {
    const { peer, sent } = makePeer();
    peer.notify("notifications/initialized");
    peer.notify("notifications/x", { a: 1 });
    expect(sent).toEqual([
      { message: { jsonrpc: "2.0", method: "notifications/initialized" }, request: undefined },
      { message: { jsonrpc: "2.0", method: "notifications/x", params: { a: 1 } }, request: undefined },
    ]);
  });
});

describe("the owner of a server request, on stdio with several open requests", () => {
  /** One request for each of these callers; server requests are recorded in `asked` and stay open. */
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

  it("GR-7 after a call was cancelled, the same caller can own it, and another cannot", () => {
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

  it("GR-7 of one caller's calls, the one without an open server request owns it", () => {
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

  it("GR-7 no owner while another caller's call has an open server request", () => {
    const { asked, question, ask } = openFor("a");
    question("first");
    const onRequest = vi.fn<() => Promise<Reply>>();
    void ask("tools/call", { timeoutMs: 0, caller: () => "b", onRequest });
    question("second");
    expect(asked).toEqual([0]);
    expect(onRequest).not.toHaveBeenCalled();
  });

  it.each(["tools/list", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"])(
    "GR-7 %s is the hub's own request and is never an owner, open or abandoned",
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

  it("GR-7 of several calls of one client, the newest is used, and all timeouts are paused", async () => {
    const made = makePeer({ onRequest: () => failure({ code: -32601, message: "nobody" }) });
    const answers: ((reply: Reply) => void)[] = [];
    const asked: string[] = [];
    const calls = ["first", "second"].map((name) =>
      made.ask("tools/call", {
        timeoutMs: 1000,
        caller: () => "a",
        isOneClient: true,
        onRequest: () => {
          asked.push(name);
          return new Promise<Reply>((resolve) => answers.push(resolve));
        },
      }),
    );
    made.receive({ jsonrpc: "2.0", id: "q", method: "elicitation/create", params: {} });
    expect(asked).toEqual(["second"]);
    vi.advanceTimersByTime(60_000);
    // The other call may be its owner, so it stays open when the call ends that it was sent on.
    made.receive({ jsonrpc: "2.0", id: 2, result: { n: 2 } });
    expect(await calls[1]).toBe('{"n":2}');
    answers[0]?.(success({ action: "accept" }));
    await vi.waitFor(() => expect(made.sent.at(-1)?.message).toMatchObject({ id: "q", result: { action: "accept" } }));
    made.receive({ jsonrpc: "2.0", id: 1, result: { n: 1 } });
    expect(await calls[0]).toBe('{"n":1}');
    // With a call of another client, there is no owner.
    const other = openFor("a", "b");
    other.question("q");
    expect(other.asked).toEqual([]);
  });

  it("GR-7 of two active calls, even of one caller, neither owns it", () => {
    const { asked, question } = openFor("a", "a");
    question("q");
    expect(asked).toEqual([]);
  });
});
