// Requests to a client: matching of replies, and every way to end without one.

import { EventEmitter } from "node:events";
import { afterEach, describe, expect, it, vi } from "vitest";
import { failure, raw, success } from "../rpc/jsonrpc.ts";
import { ClientRequests, type ClientStream } from "./client-requests.ts";

afterEach(() => {
  vi.useRealTimers();
});

function stream(): ClientStream & { readonly sent: unknown[]; close(): void } {
  const events = new EventEmitter();
  const sent: unknown[] = [];
  return {
    sent,
    send: (message) => sent.push(JSON.parse(message.toString())),
    onceClosed: (callback) => {
      events.once("close", callback);
      return () => events.off("close", callback);
    },
    close: () => events.emit("close"),
  };
}

describe("ClientRequests", () => {
  it("GR-7 a reply reaches the request with its id, errors included, in any order", async () => {
    const questions = new ClientRequests();
    const client = stream();
    const first = questions.ask("roots/list", undefined, { stream: client });
    const second = questions.ask("elicitation/create", raw({ message: "ü" }), { stream: client });
    expect(client.sent).toEqual([
      { jsonrpc: "2.0", id: 1, method: "roots/list" },
      { jsonrpc: "2.0", id: 2, method: "elicitation/create", params: { message: "ü" } },
    ]);
    questions.answer(2, failure({ code: -1, message: "no" }));
    questions.answer(1, success({ roots: [] }));
    expect(await first).toEqual(success({ roots: [] }));
    expect(await second).toEqual(failure({ code: -1, message: "no" }));
  });

  it("GR-7 unmatched replies are counted and dropped: unknown ids, an id as text, a second reply", async () => {
    const questions = new ClientRequests();
    const asked = questions.ask("roots/list", undefined, { stream: stream() });
    questions.answer("1", success({}));
    questions.answer(7, success({}));
    questions.answer(1, success({ roots: [] }));
    questions.answer(1, success({ roots: [1] }));
    expect(await asked).toEqual(success({ roots: [] }));
    expect(questions.unclaimed).toBe(3);
  });

  it("GR-7 an aborted signal cancels the request at the client", async () => {
    const questions = new ClientRequests();
    const client = stream();
    const asker = new AbortController();
    const asked = questions.ask("roots/list", undefined, { stream: client, signal: asker.signal });
    asker.abort();
    await expect(asked).rejects.toMatchObject({ kind: "Cancelled" });
    expect(client.sent[1]).toMatchObject({ method: "notifications/cancelled", params: { requestId: 1 } });
    const late = questions.ask("roots/list", undefined, { stream: client, signal: asker.signal });
    await expect(late).rejects.toMatchObject({ kind: "Cancelled" });
    expect(client.sent).toHaveLength(2);
  });

  it("GR-7 a timeout cancels the request at the client", async () => {
    vi.useFakeTimers();
    const questions = new ClientRequests();
    const client = stream();
    const asked = questions.ask("roots/list", undefined, { stream: client, timeoutMs: 50 });
    vi.advanceTimersByTime(50);
    await expect(asked).rejects.toMatchObject({ kind: "Timeout" });
    expect(client.sent[1]).toMatchObject({ method: "notifications/cancelled", params: { requestId: 1 } });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("GR-7 the end of the client's request, of its stream, or of the client rejects the request", async () => {
    const questions = new ClientRequests();
    const [one, two] = [stream(), stream()];
    const inside = questions.ask("a", undefined, { stream: one, parentId: "r1" });
    const beside = questions.ask("b", undefined, { stream: two, parentId: "r2" });
    const outside = questions.ask("c", undefined, { stream: one });
    questions.endWithin("r1");
    await expect(inside).rejects.toMatchObject({ kind: "Cancelled" });
    two.close();
    await expect(beside).rejects.toMatchObject({ kind: "ConnectionFailed" });
    questions.end();
    await expect(outside).rejects.toMatchObject({ kind: "Cancelled" });
    await expect(questions.ask("d", undefined, { stream: one })).rejects.toMatchObject({ kind: "ConnectionFailed" });
  });

  it("GR-7 rejects without a stream, and beyond the limit of open requests", async () => {
    const questions = new ClientRequests();
    await expect(questions.ask("a", undefined, { stream: undefined })).rejects.toMatchObject({
      kind: "ConnectionFailed",
    });
    const client = stream();
    const asked = Array.from({ length: 100 }, () => questions.ask("a", undefined, { stream: client }).catch(() => 0));
    await expect(questions.ask("a", undefined, { stream: client })).rejects.toMatchObject({ kind: "Overloaded" });
    questions.end();
    expect(await Promise.all(asked)).toEqual(Array.from({ length: 100 }, () => 0));
  });
});
