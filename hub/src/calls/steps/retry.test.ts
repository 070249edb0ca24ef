import { describe, expect, it } from "vitest";
import { HubError, type Delivery, type ErrorKind } from "../../errors.ts";
import { resilienceOf } from "../../servers/resilience/resilience.ts";
import { countsAgainst } from "./breaker.ts";
import { deadlineMs, retriesOfTool, retriesOfRequest, retryDelay, type Failure, type RetryOn } from "./retry.ts";

const unlimited = { request: {}, target: { requestMs: () => 1000 } };
const READ_ONLY = { annotations: { readOnlyHint: true } };
const IDEMPOTENT = { annotations: { idempotentHint: true } };

/** The decision to retry after a failure, by the retry rule of an entry and the hints of a tool. */
const calls = (entry: object, tool: object = {}) => retriesOfTool("t", { ...tool }, resilienceOf(entry));
const requests = (entry: object = {}) => retriesOfRequest(resilienceOf(entry));

function failure(delivery: Delivery | undefined, more: Partial<Failure> = {}, retryAfterMs?: number): Failure {
  const details = { ...(delivery && { delivery }), ...(retryAfterMs !== undefined && { retryAfterMs }) };
  const error = new HubError("ConnectionFailed", "x", details);
  return { error, tries: 0, rule: calls({}), leftMs: 30_000, ...more };
}

describe("RS-1 the failures after which a request is sent again", () => {
  const NOT_RUN = "unsent refused forgotten";
  it.each<[string, RetryOn, string]>([
    ["a call", calls({}), `${NOT_RUN} gateway`],
    ["a read-only call", calls({}, READ_ONLY), `${NOT_RUN} gateway unknown`],
    ["an idempotent call", calls({}, IDEMPOTENT), `${NOT_RUN} gateway unknown`],
    ["a hint that is not true", calls({}, { annotations: { readOnlyHint: "yes" } }), `${NOT_RUN} gateway`],
    ["a read-only call of a distrusted server", calls({ trusted: false }, READ_ONLY), `${NOT_RUN} gateway`],
    ["auto", calls({ retry: "auto" }), `${NOT_RUN} gateway`],
    ["safe, but auto for the tool", calls({ retry: "safe", tool_retry: { t: "auto" } }), `${NOT_RUN} gateway`],
    ["safe", calls({ retry: "safe" }), NOT_RUN],
    ["safe, read-only", calls({ retry: "safe" }, READ_ONLY), `${NOT_RUN} unknown`],
    ["always", calls({ retry: "always" }), `${NOT_RUN} gateway unknown`],
    ["never", calls({ retry: "never" }, READ_ONLY), ""],
    ["never, but safe for the tool", calls({ retry: "never", tool_retry: { t: "safe" } }), NOT_RUN],
    ["always, but never for the tool", calls({ retry: "always", tool_retry: { t: "never" } }, READ_ONLY), ""],
    ["always for the tool", calls({ tool_retry: { t: "always" } }), `${NOT_RUN} gateway unknown`],
    ["always for another tool", calls({ tool_retry: { u: "always" } }), `${NOT_RUN} gateway`],
    ["a question", requests(), `${NOT_RUN} gateway unknown`],
    ["a question, safe", requests({ retry: "safe" }), `${NOT_RUN} unknown`],
    ["a question, never", requests({ retry: "never" }), ""],
  ])("RS-1 %s", (_, rule, expected) => {
    const all: (Delivery | undefined)[] = [
      "unsent",
      "refused",
      "forgotten",
      "gateway",
      "unknown",
      "rejected",
      undefined,
    ];
    const again = all.filter((delivery) => retryDelay(failure(delivery, { rule })) === 500);
    expect(again.join(" ")).toBe(expected);
  });

  it("RS-1 a tool named constructor has no inherited rule", () => {
    expect(retriesOfTool("constructor", undefined, resilienceOf({}))).toEqual(calls({}));
  });

  it.each<Delivery>(["unsent", "refused", "gateway", "unknown"])(
    "RS-1 %s: at most twice, after 500 and 1,000 ms",
    (delivery) => {
      const delays = [0, 1, 2].map((tries) => retryDelay(failure(delivery, { tries, rule: calls({}, READ_ONLY) })));
      expect(delays).toEqual([500, 1000, undefined]);
    },
  );

  it.each([
    [2000, 30_000, 2000],
    [0, 30_000, 0],
    [29_999, 30_000, 29_999],
    [30_000, 30_000, undefined],
    [86_400_000, 30_000, undefined],
  ])("RS-1 F22 Retry-After of %d ms with %d ms left", (retryAfterMs, leftMs, expected) => {
    expect(retryDelay(failure("refused", { leftMs }, retryAfterMs))).toBe(expected);
    expect(retryDelay(failure("gateway", { leftMs }, retryAfterMs))).toBe(expected);
  });

  it("F29 a forgotten session is retried once", () => {
    expect([0, 1].map((tries) => retryDelay(failure("forgotten", { tries })))).toEqual([500, undefined]);
  });

  it.each<[number, string, RetryOn, number]>([
    [30_000, "a call", calls({}), 30_000],
    [30_000, "a read-only call", calls({}, READ_ONLY), 60_500],
    [200_000, "a read-only call", calls({}, READ_ONLY), 300_000],
    [400_000, "a read-only call", calls({}, READ_ONLY), 400_000],
  ])("RS-1 all attempts within %d ms each: %s has %4$d ms", (requestMs, _, rule, expected) => {
    expect(deadlineMs(requestMs, rule)).toBe(expected);
    expect(deadlineMs(requestMs, rule, { isGiven: true })).toBe(requestMs);
  });

  it("RS-1 no attempt after the deadline", () => {
    expect(retryDelay(failure("unsent", { leftMs: 500 }))).toBeUndefined();
  });
});

describe("RS-2 failures that count against a server", () => {
  it.each<[ErrorKind, Delivery | undefined, boolean]>([
    ["Timeout", "unknown", true],
    ["ConnectionFailed", "unsent", true],
    ["ConnectionFailed", "rejected", false],
    ["ConnectionFailed", "withheld", false],
    ["ServerNotRunning", undefined, true],
    ["Unauthenticated", "rejected", false],
    ["Forbidden", "rejected", false],
    ["RateLimited", "refused", false],
    ["Cancelled", undefined, false],
    ["CircuitOpen", undefined, false],
    ["Overloaded", "unsent", false],
    ["ServerStarting", undefined, false],
    ["InvalidArgument", undefined, false],
    ["InvalidConfig", undefined, false],
  ])("RS-2 %s (%s): %s", (kind, delivery, expected) => {
    expect(countsAgainst(new HubError(kind, "x", delivery === undefined ? {} : { delivery }), unlimited)).toBe(
      expected,
    );
  });

  it("RS-2 a timeout counts only if the server had its full time", () => {
    const error = new HubError("Timeout", "x", { delivery: "unknown" });
    const within = (timeoutMs: number) =>
      countsAgainst(error, { request: { timeoutMs }, target: { requestMs: () => 1000 } });
    expect([999, 1000, 2000].map(within)).toEqual([false, true, true]);
    const lost = new HubError("ConnectionFailed", "x", { delivery: "unknown" });
    expect(countsAgainst(lost, { request: { timeoutMs: 1 }, target: { requestMs: () => 1000 } })).toBe(true);
  });
});
