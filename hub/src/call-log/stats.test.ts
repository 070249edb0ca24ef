import fc from "fast-check";
import { expect, it } from "vitest";
import { CallStats, roundDuration } from "./stats.ts";
import { OUTCOMES } from "./outcome.ts";

it("RS-5 MG-5 percentiles and errors cover calls that reached the server; others are counted apart", () => {
  const stats = new CallStats();
  for (const [index, outcome] of OUTCOMES.entries()) {
    for (let n = 0; n <= index; n++) stats.add("git", n === 0 ? "log" : "push", outcome, 1000 * (index + 1));
  }
  expect(stats.servers).toMatchObject([
    {
      server_name: "git",
      total_calls: 6,
      tool_errors: 2,
      errors: 3,
      cancelled: 4,
      refused: 5,
      tools: [
        { tool_name: "log", total_calls: 3, tool_errors: 1, errors: 1, cancelled: 1, refused: 1 },
        { tool_name: "push", total_calls: 3, tool_errors: 1, errors: 2, cancelled: 3, refused: 4 },
      ],
    },
  ]);
  // The cancelled and refused calls took 4 and 5 ms.
  expect(stats.servers[0]?.p99_ms).toBeCloseTo(3, 1);
});

it("RS-5 a percentile is within 0.5 % of the exact one, and exact below 1 ms", () => {
  const durations = fc.array(fc.integer({ min: 0, max: 600_000_000 }), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(durations, (given) => {
      const stats = new CallStats();
      for (const us of given) stats.add("s", "t", "ok", roundDuration(us));
      const sorted = given.toSorted((a, b) => a - b);
      const { p50_ms = 0, p95_ms = 0, p99_ms = 0 } = stats.servers[0] ?? {};
      for (const [share, ms] of [[0.5, p50_ms] as const, [0.95, p95_ms] as const, [0.99, p99_ms] as const]) {
        const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
        expect(Math.abs(ms * 1000 - exact)).toBeLessThanOrEqual(exact < 1000 ? 1e-6 : exact * 0.005);
      }
    }),
  );
});
