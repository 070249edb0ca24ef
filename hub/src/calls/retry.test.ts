import { describe, expect, it } from "vitest";
import { HubError, type Delivery, type ErrorKind } from "../errors.ts";
import { resilienceOf } from "../servers/resilience.ts";
import { countsAgainst, deadlineMs, repeatOf, retryDelay, type Failure, type Repeat } from "./retry.ts";

function failure(delivery: Delivery | undefined, more: Partial<Failure> = {}, retryAfterMs?: number): Failure {
  const details = { ...(delivery && { delivery }), ...(retryAfterMs !== undefined && { retryAfterMs }) };
  const error = new HubError("ConnectionFailed", "x", details);
  return { error, tries: 0, repeat: "unsafe", isCall: true, leftMs: 30_000, ...more };
}

describe("RS-1 when a retry is safe", () => {
  // One row per line of the table of delivery phases: [phase, question, harmless call, any other call].
  it.each<[Delivery | undefined, number | undefined, number | undefined, number | undefined]>([
    ["unsent", 500, 500, 500],
    ["refused", 500, 500, 500],
    ["forgotten", 500, 500, 500],
    ["unknown", 500, 500, undefined],
    ["rejected", undefined, undefined, undefined],
    [undefined, undefined, undefined, undefined],
  ])("RS-1 %s", (delivery, question, harmless, any) => {
    expect(retryDelay(failure(delivery, { repeat: "safe", isCall: false }))).toBe(question);
    expect(retryDelay(failure(delivery, { repeat: "safe" }))).toBe(harmless);
    expect(retryDelay(failure(delivery))).toBe(any);
    expect(retryDelay(failure(delivery, { repeat: "never" }))).toBeUndefined();
  });

  it("RS-1 at most twice, after 500 and 1,000 ms", () => {
    expect([0, 1, 2].map((tries) => retryDelay(failure("unsent", { tries })))).toEqual([500, 1000, undefined]);
  });

  it("RS-1 a harmless call whose outcome is unknown is repeated once, a question twice", () => {
    expect(retryDelay(failure("unknown", { tries: 1, repeat: "safe" }))).toBeUndefined();
    expect(retryDelay(failure("unknown", { tries: 1, repeat: "safe", isCall: false }))).toBe(1000);
  });

  it.each([
    [2000, 30_000, 2000],
    [0, 30_000, 0],
    [29_999, 30_000, 29_999],
    [30_000, 30_000, undefined],
    [86_400_000, 30_000, undefined],
  ])("F22 Retry-After of %d ms with %d ms left", (retryAfterMs, leftMs, expected) => {
    expect(retryDelay(failure("refused", { leftMs }, retryAfterMs))).toBe(expected);
  });

  it("F29 a session that the server forgot is worth one more attempt", () => {
    expect([0, 1].map((tries) => retryDelay(failure("forgotten", { tries })))).toEqual([500, undefined]);
  });

  it.each<[number, Repeat, number]>([
    [30_000, "unsafe", 30_000],
    [30_000, "safe", 60_500],
    [200_000, "safe", 300_000],
    [400_000, "safe", 400_000],
  ])("RS-1 all attempts of a request of %d ms that is %s to repeat have %d ms", (requestMs, repeat, expected) => {
    expect(deadlineMs(requestMs, repeat)).toBe(expected);
  });

  it("RS-1 nothing is tried after the deadline", () => {
    expect(retryDelay(failure("unsent", { leftMs: 500 }))).toBeUndefined();
  });
});

describe("RS-1 whether a call may run twice", () => {
  const readOnly = { annotations: { readOnlyHint: true } };
  const idempotent = { annotations: { idempotentHint: true } };
  it.each<[string, object, object | undefined, Repeat]>([
    ["a tool that says nothing", {}, {}, "unsafe"],
    ["a read-only tool of any server", {}, readOnly, "unsafe"],
    ["a read-only tool of a trusted server", { trusted: true }, readOnly, "safe"],
    ["an idempotent tool of a trusted server", { trusted: true }, idempotent, "safe"],
    ["a silent tool of a trusted server", { trusted: true }, {}, "unsafe"],
    ["a hint that is not true", { trusted: true }, { annotations: { readOnlyHint: "yes" } }, "unsafe"],
    ["a server for which everything is repeated", { retry: "always" }, {}, "safe"],
    ["a server for which nothing is", { retry: "never", trusted: true }, readOnly, "never"],
    ["a tool that the operator calls safe", { tool_retry: { t: "safe" } }, {}, "safe"],
    ["a tool that is never repeated", { retry: "always", tool_retry: { t: "never" } }, readOnly, "never"],
    ["a tool named like a member of every object", { tool_retry: {} }, undefined, "unsafe"],
  ])("RS-1 %s", (_, entry, tool, expected) => {
    expect(repeatOf("t", { ...tool }, resilienceOf(entry))).toBe(expected);
  });

  it("RS-1 a tool called constructor has no rule of its own", () => {
    expect(repeatOf("constructor", undefined, resilienceOf({}))).toBe("unsafe");
  });
});

describe("RS-2 what counts against a server", () => {
  it.each<[ErrorKind, Delivery | undefined, boolean]>([
    ["Timeout", "unknown", true],
    ["ConnectionFailed", "unsent", true],
    ["ConnectionFailed", "rejected", false],
    ["ServerNotRunning", undefined, true],
    ["Unauthenticated", "rejected", false],
    ["Forbidden", "rejected", false],
    ["RateLimited", "refused", false],
    ["Cancelled", undefined, false],
    ["CircuitOpen", undefined, false],
    ["Overloaded", "unsent", false],
    ["InvalidConfig", undefined, false],
  ])("RS-2 %s (%s): %s", (kind, delivery, expected) => {
    expect(countsAgainst(new HubError(kind, "x", delivery === undefined ? {} : { delivery }))).toBe(expected);
  });
});
