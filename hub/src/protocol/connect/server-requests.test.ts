// Requests of a server to its client, through Peer with a fake clock: their owner, and the paused timeout.

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { HubError } from "../../errors.ts";
import { failure, success, type Reply, type RequestMessage } from "../rpc/jsonrpc.ts";
import { Peer, type Channel } from "./peer.ts";
import type { OpenServerRequest, RequestOptions } from "./pending-request.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  expect(vi.getTimerCount(), "timers left running").toBe(0);
  vi.useRealTimers();
});

interface Asked extends OpenServerRequest {
  readonly message: RequestMessage;
  resolve(reply: Reply): void;
  reject(error: unknown): void;
}

/** A handler of server requests that the test completes. */
function responder() {
  const asked: Asked[] = [];
  const onRequest = (message: RequestMessage, request: OpenServerRequest) =>
    new Promise<Reply>((resolve, reject) => {
      asked.push({ message, ...request, resolve, reject });
      request.signal.addEventListener("abort", () => reject(new HubError("Cancelled", "cancelled")));
    });
  return { asked, onRequest };
}

function makePeer(deliver?: Channel["deliver"]) {
  const sent: Record<string, unknown>[] = [];
  const peer = new Peer(
    {
      send: (bytes) => sent.push(JSON.parse(bytes.toString())),
      ...(deliver === undefined ? {} : { deliver }),
    },
    { onNotification: () => undefined, onRequest: () => failure({ code: -32600, message: "nobody" }) },
  );
  const outcomes: string[] = [];
  const request = (method = "tools/call", options: Partial<RequestOptions> = {}) =>
    peer
      .request(method, () => undefined, { timeoutMs: 1000, ...options })
      .then(
        () => outcomes.push("answered"),
        (error: HubError) => outcomes.push(error.kind),
      );
  const receive = (message: object, via?: number) =>
    peer.receive(Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message })), via);
  const ask = (id: unknown, method = "roots/list", via?: number) => receive({ id, method }, via);
  const replies = () => sent.filter(({ method }) => method === undefined);
  return { peer, sent, outcomes, request, receive, ask, replies };
}

const settle = () => vi.advanceTimersByTimeAsync(0);
const REFUSED = { code: -32600, message: "nobody" };

describe("the owner of a server request", () => {
  it("GR-7 is the request on whose stream it arrived, among many", async () => {
    const { request, ask, receive, replies } = makePeer();
    const [a, b] = [responder(), responder()];
    const open = [request("tools/call", a), request("tools/call", b)];
    ask("s1", "roots/list", 2);
    expect([a.asked.length, b.asked.length]).toEqual([0, 1]);
    b.asked[0]?.resolve(success({ roots: [] }));
    await settle();
    expect(replies()).toEqual([{ jsonrpc: "2.0", id: "s1", result: { roots: [] } }]);
    receive({ id: 1, result: {} });
    receive({ id: 2, result: {} });
    await Promise.all(open);
  });

  it("GR-7 without a stream is the only open request of a client; of several none", async () => {
    const { request, ask, receive, replies } = makePeer();
    const one = responder();
    const open = [request("tools/list"), request("tools/call", one)];
    ask("s1");
    expect(one.asked).toHaveLength(1);
    one.asked[0]?.resolve(success({}));
    open.push(request("prompts/get", responder()));
    ask("s2");
    await settle();
    expect(one.asked).toHaveLength(1);
    expect(replies()).toContainEqual({ jsonrpc: "2.0", id: "s2", error: REFUSED });
    for (const id of [1, 2, 3]) receive({ id, result: {} });
    await Promise.all(open);
  });

  it("GR-7 does not exist without a request, on an ended stream, and while an abandoned request may still run", async () => {
    const { request, ask, receive, replies } = makePeer();
    ask("s1");
    ask("s2", "roots/list", 7);
    const leaver = new AbortController();
    const left = request("tools/call", { signal: leaver.signal });
    leaver.abort();
    await left;
    const one = responder();
    const open = request("tools/call", one);
    ask("s3");
    expect(one.asked).toEqual([]);
    expect(replies().map(({ id, error }) => [id, error])).toEqual(["s1", "s2", "s3"].map((id) => [id, REFUSED]));
    receive({ id: 2, result: {} });
    await open;
  });

  it("is the only one left, once the cancellation of another is old enough", async () => {
    const { request, ask, receive } = makePeer();
    const leaver = new AbortController();
    const left = request("tools/call", { signal: leaver.signal });
    leaver.abort();
    await left;
    const one = responder();
    const open = request("tools/call", { ...one, timeoutMs: 0 });
    await vi.advanceTimersByTimeAsync(29_000);
    ask("s1");
    expect(one.asked).toEqual([]);
    await vi.advanceTimersByTimeAsync(1001);
    ask("s2");
    expect(one.asked).toHaveLength(1);
    receive({ id: 2, result: {} });
    await open;
  });

  it("of several is the one that waits for the task it names", async () => {
    const { request, receive } = makePeer();
    const [a, b] = [responder(), responder()];
    const open = [request("tools/call", a), request("tasks/result", { ...b, task: "t1" })];
    const related = { "io.modelcontextprotocol/related-task": { taskId: "t1" } };
    receive({ id: "s1", method: "elicitation/create", params: { _meta: related } });
    expect([a.asked.length, b.asked.length]).toEqual([0, 1]);
    receive({ id: 1, result: {} });
    receive({ id: 2, result: {} });
    await Promise.all(open);
  });

  it("CL-2 a ping gets its reply at once, also while a request is open", async () => {
    const { request, ask, receive, replies } = makePeer();
    const one = responder();
    const open = request("tools/call", one);
    ask("p", "ping", 1);
    expect(one.asked).toEqual([]);
    expect(replies()).toHaveLength(1);
    receive({ id: 1, result: {} });
    await open;
  });
});

describe("while a server request is open", () => {
  it("GR-7 the timeout of its owner is paused, and continues with the rest", async () => {
    const { request, ask, receive, outcomes } = makePeer();
    const one = responder();
    const open = request("tools/call", { ...one, maxTotalMs: 1500 });
    await vi.advanceTimersByTimeAsync(900);
    ask("s1", "roots/list", 1);
    ask("s2", "roots/list", 1);
    await vi.advanceTimersByTimeAsync(500_000);
    one.asked[0]?.resolve(success({}));
    await vi.advanceTimersByTimeAsync(500_000);
    receive({ method: "notifications/progress", params: { progressToken: 1, progress: 1 } });
    await vi.advanceTimersByTimeAsync(500_000);
    expect(outcomes).toEqual([]);
    one.asked[1]?.resolve(success({}));
    await vi.advanceTimersByTimeAsync(599);
    expect(outcomes).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await open;
    expect(outcomes).toEqual(["Timeout"]);
  });

  it("GR-7 the server may cancel it, and then gets no reply", async () => {
    const { request, ask, receive, replies } = makePeer();
    const one = responder();
    const open = request("tools/call", one);
    ask(5, "roots/list", 1);
    receive({ method: "notifications/cancelled", params: { requestId: 5 } });
    expect(one.asked[0]?.signal.aborted).toBe(true);
    await settle();
    expect(replies()).toEqual([]);
    receive({ id: 1, result: {} });
    await open;
  });

  it.each([
    ["its answer", ({ receive }: ReturnType<typeof makePeer>) => receive({ id: 1, result: {} })],
    [
      "a failure",
      ({ peer }: ReturnType<typeof makePeer>) => peer.failRequest(1, new HubError("ConnectionFailed", "x")),
    ],
  ])("GR-7 the end of its owner aborts it: %s", async (_, end) => {
    const made = makePeer();
    const one = responder();
    const open = made.request("tools/call", one);
    made.ask(5, "roots/list", 1);
    end(made);
    await open;
    await settle();
    expect(one.asked[0]?.signal.aborted).toBe(true);
    expect(made.replies()).toMatchObject([{ id: 5, error: { code: -31499 } }]);
  });

  it("GR-7 its handler can cancel the owner, and the server is notified", async () => {
    const { request, ask, sent, outcomes } = makePeer();
    const one = responder();
    const open = request("tools/call", one);
    ask(5, "roots/list", 1);
    one.asked[0]?.cancelOwner();
    await open;
    await settle();
    expect(outcomes).toEqual(["Cancelled"]);
    expect(sent).toContainEqual(expect.objectContaining({ method: "notifications/cancelled" }));
    one.asked[0]?.cancelOwner();
    expect(sent.filter(({ method }) => method === "notifications/cancelled")).toHaveLength(1);
  });

  it("GR-7 CL-3 if messages may overtake each other, the error reply waits for the cancellation", async () => {
    let arrived = () => {};
    const { request, ask, sent } = makePeer((bytes) => {
      sent.push(JSON.parse(bytes.toString()));
      return new Promise((resolve) => {
        arrived = resolve;
      });
    });
    const one = responder();
    const open = request("tools/call", one);
    ask(5, "roots/list", 1);
    one.asked[0]?.cancelOwner();
    await open;
    await settle();
    expect(sent.slice(1)).toMatchObject([{ method: "notifications/cancelled" }]);
    arrived();
    await settle();
    expect(sent.slice(2)).toMatchObject([{ id: 5, error: { code: -31499 } }]);
  });

  it("GR-7 a lost connection aborts it, and nothing is sent", async () => {
    const { peer, request, ask, replies } = makePeer();
    const one = responder();
    const open = request("tools/call", one);
    ask(5, "roots/list", 1);
    peer.fail(new HubError("ServerNotRunning", "gone"));
    await open;
    await settle();
    expect([one.asked[0]?.signal.aborted, replies()]).toEqual([true, []]);
  });

  it("GR-7 an id in use and a request beyond the limit are refused", async () => {
    const { request, ask, receive, replies } = makePeer();
    const one = responder();
    const open = request("tools/call", one);
    for (let id = 0; id <= 100; id++) ask(id, "roots/list", 1);
    ask(7, "roots/list", 1);
    await settle();
    expect(one.asked).toHaveLength(100);
    expect(replies()).toMatchObject([
      { id: 100, error: { code: -32603 } },
      { id: 7, error: { code: -32600 } },
    ]);
    receive({ id: 1, result: {} });
    await open;
    await settle();
  });
});
