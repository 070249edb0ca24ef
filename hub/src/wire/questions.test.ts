// What a client is asked: which answer belongs to which question, and every way in which there is none.

import { EventEmitter } from "node:events";
import { afterEach, describe, expect, it, vi } from "vitest";
import { failure, raw, success } from "./jsonrpc.ts";
import { Questions, type ClientStream } from "./questions.ts";

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

describe("Questions", () => {
  it("GR-7 an answer goes to the question with its id, errors included, in any order", async () => {
    const questions = new Questions();
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

  it("GR-7 what answers nothing is counted and dropped: unknown ids, an id as text, the second answer", async () => {
    const questions = new Questions();
    const asked = questions.ask("roots/list", undefined, { stream: stream() });
    questions.answer("1", success({}));
    questions.answer(7, success({}));
    questions.answer(1, success({ roots: [] }));
    questions.answer(1, success({ roots: [1] }));
    expect(await asked).toEqual(success({ roots: [] }));
    expect(questions.unclaimed).toBe(3);
  });

  it("GR-7 an asker who gives up tells the client", async () => {
    const questions = new Questions();
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

  it("GR-7 a client that stays silent is told that nobody waits any more", async () => {
    vi.useFakeTimers();
    const questions = new Questions();
    const client = stream();
    const asked = questions.ask("roots/list", undefined, { stream: client, timeoutMs: 50 });
    vi.advanceTimersByTime(50);
    await expect(asked).rejects.toMatchObject({ kind: "Timeout" });
    expect(client.sent[1]).toMatchObject({ method: "notifications/cancelled", params: { requestId: 1 } });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("GR-7 the end of the client's request, of its stream, and of the client end what they carried", async () => {
    const questions = new Questions();
    const [one, two] = [stream(), stream()];
    const inside = questions.ask("a", undefined, { stream: one, within: "r1" });
    const beside = questions.ask("b", undefined, { stream: two, within: "r2" });
    const outside = questions.ask("c", undefined, { stream: one });
    questions.endWithin("r1");
    await expect(inside).rejects.toMatchObject({ kind: "Cancelled" });
    two.close();
    await expect(beside).rejects.toMatchObject({ kind: "ConnectionFailed" });
    questions.end();
    await expect(outside).rejects.toMatchObject({ kind: "Cancelled" });
    await expect(questions.ask("d", undefined, { stream: one })).rejects.toMatchObject({ kind: "ConnectionFailed" });
  });

  it("GR-7 without a stream nobody can be asked, and a client is not asked without end", async () => {
    const questions = new Questions();
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
