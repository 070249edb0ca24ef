// Limits of suspended calls. With real clients and servers: test/mcp/suspended-calls.test.ts.

import { describe, expect, it } from "vitest";
import { HubError } from "../../errors.ts";
import { rawParams, success, type Reply, type RequestMessage } from "../../protocol/rpc/jsonrpc.ts";
import type { IncomingRequest } from "../../protocol/serve/service.ts";
import type { InteractiveCall } from "./interactive-call.ts";
import { SuspendedCalls } from "./suspended-calls.ts";

const serverRequest: RequestMessage = { kind: "request", id: "s", method: "roots/list", params: undefined };

function incoming(params: Record<string, unknown> = {}, client = new AbortController()): IncomingRequest {
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

/** A server that asks for roots and returns them. */
async function asks(call: InteractiveCall, cancelled = new AbortController()): Promise<Reply> {
  return new Promise((resolve, reject) => {
    cancelled.signal.addEventListener("abort", () => reject(new HubError("Cancelled", "cancelled")));
    call
      .answer(serverRequest, { signal: cancelled.signal, cancelOwner: () => cancelled.abort(), hasOwnStream: true })
      .then(resolve, reject);
  });
}

const stateOf = (reply: Reply) =>
  reply.ok ? (reply.result.value as { requestState?: string }).requestState : undefined;

describe("SuspendedCalls", () => {
  it("GR-7 a call beyond the limit is cancelled and fails with Overloaded", async () => {
    const suspended = new SuspendedCalls({ notify: () => undefined, maxSuspended: 2 });
    const calls: AbortController[] = [];
    const begin = () =>
      suspended.begin(incoming(), (call) => {
        calls.push(new AbortController());
        return asks(call, calls.at(-1));
      });
    const states = [stateOf(await begin()), stateOf(await begin())];
    await expect(begin()).rejects.toMatchObject({ kind: "Overloaded" });
    expect(calls.map(({ signal }) => signal.aborted)).toEqual([false, false, true]);
    const inputResponses = { s: { roots: [] } };
    const reply = await suspended.resume(incoming({ requestState: states[0], inputResponses }));
    expect(reply).toEqual(success({ roots: [] }));
    expect(suspended.size).toBe(1);
    suspended.close();
    expect([suspended.size, calls[1]?.signal.aborted]).toEqual([0, true]);
    await expect(suspended.resume(incoming({ requestState: states[1] }))).rejects.toMatchObject({
      kind: "InvalidArgument",
    });
    await expect(begin()).rejects.toMatchObject({ kind: "Overloaded" });
  });

  it("GR-7 a call resumes only for the same request; the order of arguments does not matter", async () => {
    const suspended = new SuspendedCalls({ notify: () => undefined });
    const first = { arguments: { a: 1, b: { c: [1, 2], d: null } } };
    const requestState = stateOf(await suspended.begin(incoming(first), (call) => asks(call)));
    const resume = (params: Record<string, unknown>) => suspended.resume(incoming({ ...params, requestState }));
    for (const other of [{ a: 1 }, { a: 1, b: { c: [2, 1], d: null } }, { a: "1", b: { c: [1, 2], d: null } }]) {
      await expect(resume({ arguments: other })).rejects.toThrow("another request");
    }
    await expect(resume({ ...first, name: "u" })).rejects.toThrow("another request");
    const again = await resume({ arguments: { b: { d: null, c: [1, 2] }, a: 1 } });
    expect(stateOf(again)).not.toBe(requestState);
    suspended.close();
  });

  it("GR-7 a client that resumes and disconnects cancels its call", async () => {
    for (const leaves of ["before", "after"]) {
      const suspended = new SuspendedCalls({ notify: () => undefined });
      const requestState = stateOf(await suspended.begin(incoming(), (call) => asks(call)));
      const client = new AbortController();
      if (leaves === "before") client.abort();
      const back = suspended.resume(incoming({ requestState }, client));
      client.abort();
      await expect(back).rejects.toMatchObject({ kind: "Cancelled" });
      expect(suspended.size).toBe(0);
    }
  });

  it("GR-7 a request is keyed by the server's id if that is a name; other ids are numbered", async () => {
    const keysFor = async (...ids: (string | number)[]) => {
      const suspended = new SuspendedCalls({ notify: () => undefined });
      const signal = new AbortController().signal;
      const ask = (call: InteractiveCall) => (id: string | number) =>
        call.answer({ ...serverRequest, id }, { signal, cancelOwner: () => undefined, hasOwnStream: true });
      const reply = await suspended.begin(incoming(), (call) => Promise.race(ids.map(ask(call))));
      suspended.close();
      return reply.ok ? Object.keys((reply.result.value as { inputRequests: object }).inputRequests) : [];
    };
    expect(await keysFor("user_name", 7, "0f-1")).toEqual(["user_name", "q1", "0f-1"]);
    // A server's id must not look like one of our own, and must not be too long.
    expect(await keysFor(1, "q1", "", "x".repeat(129))).toEqual(["q1", "q2", "q3", "q4"]);
  });
});
