import { expect, it } from "vitest";
import { rawParams } from "../../protocol/rpc/jsonrpc.ts";
import { CallTracker } from "./call-tracker.ts";
import type { ClientResponder } from "../connection/client-responder.ts";
import type { ForwardRequest } from "../connection/upstream.ts";

/** A call of a client that can answer requests. */
function call(client: string, { name = "tool", wasAsked = false } = {}): ForwardRequest {
  const responder: ClientResponder = {
    caller: () => client,
    capabilities: { elicitation: {} },
    wasAsked,
    askedMs: 0,
    answer: () => Promise.reject(new Error("not asked")),
    completed: () => undefined,
  };
  const caller = { principal: () => client, credentialsOf: () => client, capabilities: responder.capabilities };
  return { method: "tools/call", params: rawParams({ name }), responder, caller };
}

it.each<[string, ForwardRequest, ForwardRequest, boolean]>([
  ["of another client waits", call("a"), call("b"), true],
  ["of the same client does not wait", call("a"), call("a"), false],
  ["does not wait for a call whose user is being asked", call("a", { wasAsked: true }), call("b"), false],
])("the first call of a tool %s", (_, first, second, waits) => {
  const calls = new CallTracker();
  const begun = calls.begin(first, { isShared: true });
  const wait = calls.wait(second, performance.now());
  expect(wait !== undefined).toBe(waits);
  calls.end(begun, { isAnswered: true });
  return wait;
});

it("a tool that was answered without a request to the client makes no call wait", () => {
  const calls = new CallTracker();
  calls.end(calls.begin(call("a"), { isShared: true }), { isAnswered: true });
  calls.begin(call("a"), { isShared: true });
  expect(calls.wait(call("b"), performance.now())).toBeUndefined();
});
