import { expect, it } from "vitest";
import { rawParams } from "../wire/jsonrpc.ts";
import { FirstCalls } from "./first-calls.ts";
import type { Respondent } from "./respondent.ts";
import type { Ask } from "./upstream.ts";

/** A call by a client that can be asked. */
function call(client: string, { name = "tool", wasAsked = false } = {}): Ask {
  const respondent: Respondent = {
    caller: () => client,
    capabilities: { elicitation: {} },
    wasAsked,
    askedMs: 0,
    answer: () => Promise.reject(new Error("not asked")),
    completed: () => undefined,
  };
  const caller = { principal: () => client, capabilities: respondent.capabilities };
  return { method: "tools/call", params: rawParams({ name }), respondent, caller };
}

it.each<[string, Ask, Ask, boolean]>([
  ["of another client waits", call("a"), call("b"), true],
  ["of the same client does not", call("a"), call("a"), false],
  ["does not wait for one that waits for its user's answer", call("a", { wasAsked: true }), call("b"), false],
])("E1 a first call %s", (_, first, second, waits) => {
  const calls = new FirstCalls();
  const begun = calls.begin(first, { isShared: true });
  const turn = calls.wait(second, performance.now());
  expect(turn !== undefined).toBe(waits);
  calls.end(begun, { isAnswered: true });
  return turn;
});

it("E1 a tool that was answered without a question keeps nobody waiting", () => {
  const calls = new FirstCalls();
  calls.end(calls.begin(call("a"), { isShared: true }), { isAnswered: true });
  calls.begin(call("a"), { isShared: true });
  expect(calls.wait(call("b"), performance.now())).toBeUndefined();
});
