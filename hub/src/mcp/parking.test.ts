// The bounds of parked calls. How they are used, with real clients and servers: test/integration/parking.test.ts.

import { describe, expect, it } from "vitest";
import { HubError } from "../errors.ts";
import { rawParams, success, type Reply, type RequestMessage } from "../wire/jsonrpc.ts";
import type { Exchange } from "../wire/server.ts";
import type { InteractiveCall } from "./interactive-call.ts";
import { Parking } from "./parking.ts";

const question: RequestMessage = { kind: "request", id: "s", method: "roots/list", params: undefined };

function exchange(params: Record<string, unknown> = {}, client = new AbortController()): Exchange {
  return {
    request: { kind: "request", id: 1, method: "tools/call", params: rawParams({ name: "t", ...params }) },
    era: "modern",
    transport: "http",
    session: undefined,
    capabilities: { roots: {} },
    logLevel: undefined,
    headers: {},
    signal: client.signal,
    notify: () => undefined,
  };
}

/** A server that asks for roots, and gives them back. */
async function asks(call: InteractiveCall, cancelled = new AbortController()): Promise<Reply> {
  return new Promise((resolve, reject) => {
    cancelled.signal.addEventListener("abort", () => reject(new HubError("Cancelled", "cancelled")));
    call
      .answer(question, { signal: cancelled.signal, giveUp: () => cancelled.abort(), isPlaced: true })
      .then(resolve, reject);
  });
}

const stateOf = (reply: Reply) =>
  reply.ok ? (reply.result.value as { requestState?: string }).requestState : undefined;

describe("Parking", () => {
  it("GR-7 holds so many calls and no more; the one too many is cancelled and says so", async () => {
    const parking = new Parking({ notify: () => undefined, maxParked: 2 });
    const calls: AbortController[] = [];
    const begin = () =>
      parking.begin(exchange(), (call) => {
        calls.push(new AbortController());
        return asks(call, calls.at(-1));
      });
    const states = [stateOf(await begin()), stateOf(await begin())];
    await expect(begin()).rejects.toMatchObject({ kind: "Overloaded" });
    expect(calls.map(({ signal }) => signal.aborted)).toEqual([false, false, true]);
    const inputResponses = { s: { roots: [] } };
    const reply = await parking.resume(exchange({ requestState: states[0], inputResponses }));
    expect(reply).toEqual(success({ roots: [] }));
    expect(parking.size).toBe(1);
    parking.close();
    expect([parking.size, calls[1]?.signal.aborted]).toEqual([0, true]);
    await expect(parking.resume(exchange({ requestState: states[1] }))).rejects.toMatchObject({
      kind: "InvalidConfig",
    });
    await expect(begin()).rejects.toMatchObject({ kind: "Overloaded" });
  });

  it("GR-7 the order of arguments does not matter, everything else does", async () => {
    const parking = new Parking({ notify: () => undefined });
    const first = { arguments: { a: 1, b: { c: [1, 2], d: null } } };
    const requestState = stateOf(await parking.begin(exchange(first), (call) => asks(call)));
    const resume = (params: Record<string, unknown>) => parking.resume(exchange({ ...params, requestState }));
    for (const other of [{ a: 1 }, { a: 1, b: { c: [2, 1], d: null } }, { a: "1", b: { c: [1, 2], d: null } }]) {
      await expect(resume({ arguments: other })).rejects.toThrow("another request");
    }
    await expect(resume({ ...first, name: "u" })).rejects.toThrow("another request");
    const again = await resume({ arguments: { b: { d: null, c: [1, 2] }, a: 1 } });
    expect(stateOf(again)).not.toBe(requestState);
    parking.close();
  });

  it("GR-7 a client that comes back and leaves, or is gone already, cancels its call", async () => {
    for (const leaves of ["before", "after"]) {
      const parking = new Parking({ notify: () => undefined });
      const requestState = stateOf(await parking.begin(exchange(), (call) => asks(call)));
      const client = new AbortController();
      if (leaves === "before") client.abort();
      const back = parking.resume(exchange({ requestState }, client));
      client.abort();
      await expect(back).rejects.toMatchObject({ kind: "Cancelled" });
      expect(parking.size).toBe(0);
    }
  });

  it("GR-7 a question goes by the id that its server gave it, where that is a name; other ids are counted", async () => {
    const keysFor = async (...ids: (string | number)[]) => {
      const parking = new Parking({ notify: () => undefined });
      const signal = new AbortController().signal;
      const ask = (call: InteractiveCall) => (id: string | number) =>
        call.answer({ ...question, id }, { signal, giveUp: () => undefined, isPlaced: true });
      const reply = await parking.begin(exchange(), (call) => Promise.race(ids.map(ask(call))));
      parking.close();
      return reply.ok ? Object.keys((reply.result.value as { inputRequests: object }).inputRequests) : [];
    };
    expect(await keysFor("user_name", 7, "0f-1")).toEqual(["user_name", "q1", "0f-1"]);
    // None may be taken for one that is counted, and none may be without end.
    expect(await keysFor(1, "q1", "", "x".repeat(129))).toEqual(["q1", "q2", "q3", "q4"]);
  });
});
