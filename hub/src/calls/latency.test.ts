import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Latency } from "./latency.ts";

const MINUTE = 60_000;

function latencyAt(): { latency: Latency; clock: { now: number } } {
  const clock = { now: 0 };
  return { latency: new Latency({ now: () => clock.now }), clock };
}

describe("Latency", () => {
  it("RS-5 gives p50, p95, p99, totals and errors per server and per tool", () => {
    const { latency } = latencyAt();
    for (let ms = 1; ms <= 100; ms++) latency.record("git", ms <= 50 ? "log" : "push", ms, ms % 10 !== 0);
    const [git, ...others] = latency.metrics();
    expect(others).toEqual([]);
    expect(git).toMatchObject({ server_name: "git", total_calls: 100, errors: 10 });
    expect(git?.p50_ms).toBeCloseTo(50, -0.5);
    expect(git?.p95_ms).toBeCloseTo(95, -0.5);
    expect(git?.p99_ms).toBeCloseTo(99, -0.5);
    expect(latency.tools("git").map(({ tool_name, total_calls }) => [tool_name, total_calls])).toEqual([
      ["log", 50],
      ["push", 50],
    ]);
    expect(latency.metrics("git")).toEqual([git]);
    expect(latency.metrics("svn")).toEqual([]);
    expect(latency.tools("svn")).toEqual([]);
  });

  it("RS-5 a percentile is within 1.6 % of the exact one, and exact below 64 µs", () => {
    const durations = fc.array(fc.double({ min: 0, max: 600_000, noNaN: true }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(durations, (given) => {
        const { latency } = latencyAt();
        for (const ms of given) latency.record("s", "t", ms, true);
        const sorted = given.map((ms) => Math.round(ms * 1000)).toSorted((a, b) => a - b);
        const [metrics] = latency.metrics();
        for (const [share, ms] of [
          [0.5, metrics?.p50_ms],
          [0.95, metrics?.p95_ms],
          [0.99, metrics?.p99_ms],
        ] as const) {
          const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
          const difference = Math.abs((ms ?? 0) * 1000 - exact);
          expect(difference).toBeLessThanOrEqual(exact < 64 ? 1e-6 : exact * 0.016);
        }
      }),
    );
  });

  it("RS-5 figures are those of the last hour, totals are for ever", () => {
    const { latency, clock } = latencyAt();
    latency.record("s", "t", 1000, true);
    clock.now = 30 * MINUTE;
    for (let count = 0; count < 10; count++) latency.record("s", "t", 10, true);
    expect(latency.metrics()[0]?.p99_ms).toBeCloseTo(1000, -2);
    clock.now = 61 * MINUTE;
    expect(latency.metrics()[0]?.p99_ms).toBeCloseTo(10, 0);
    expect(latency.metrics()[0]?.total_calls).toBe(11);
    // Nothing for a day: the last figures stay.
    clock.now = 24 * 60 * MINUTE;
    expect(latency.metrics()[0]?.p50_ms).toBeCloseTo(10, 0);
  });

  it("RS-5 strange durations do not break it", () => {
    const { latency } = latencyAt();
    for (const ms of [-5, 0, NaN, Infinity, 1e15]) latency.record("s", "t", ms, false);
    expect(latency.metrics()[0]).toMatchObject({ total_calls: 5, errors: 5, p50_ms: 0 });
    expect(latency.metrics()[0]?.p99_ms).toBeGreaterThan(1e6);
    expect(latency.prometheus()).not.toMatch(/NaN|Infinity/);
  });

  it("RS-5 at most 2,000 tools and 500 servers are told apart", () => {
    const { latency } = latencyAt();
    for (let index = 0; index < 3000; index++) latency.record("s", `tool-${index}`, 1, true);
    expect(latency.tools("s")).toHaveLength(2001);
    expect(latency.tools("s").at(-1)).toMatchObject({ tool_name: "_other", total_calls: 1000 });
    for (let index = 0; index < 600; index++) latency.record(`server-${index}`, "t", 1, true);
    expect(latency.metrics()).toHaveLength(501);
    expect(latency.metrics("_other")[0]?.total_calls).toBe(101);
  });

  it("RS-5 F47 a server that was removed makes room for another", () => {
    const latency = new Latency();
    for (let n = 0; n < 3000; n++) {
      latency.record(`s${n}`, "t", 1, true);
      if (n > 0) latency.forget(`s${n}`);
    }
    latency.forget("nobody");
    latency.record("last", "t", 1, true);
    expect(latency.metrics().map(({ server_name }) => server_name)).toEqual(["s0", "last"]);
    expect(latency.tools("last").map(({ tool_name }) => tool_name)).toEqual(["t"]);
  });

  it("RS-5 Prometheus gets cumulative buckets with their sum and count", () => {
    const { latency } = latencyAt();
    for (const ms of [5, 15, 700, 400_000]) latency.record("git", "log", ms, true);
    latency.record("git", "log", 20, false);
    const lines = latency.prometheus().split("\n");
    const labels = 'server="git",method="tools/call",tool="log",outcome="success"';
    expect(lines.slice(0, 2)).toEqual([
      expect.stringMatching(/^# HELP mcp_client_operation_duration_seconds /),
      "# TYPE mcp_client_operation_duration_seconds histogram",
    ]);
    const value = (name: string) =>
      lines
        .find((line) => line.startsWith(`mcp_client_operation_duration_seconds_${name} `))
        ?.split(" ")
        .at(-1);
    expect(value(`bucket{${labels},le="0.01"}`)).toBe("1");
    expect(value(`bucket{${labels},le="0.02"}`)).toBe("2");
    expect(value(`bucket{${labels},le="1"}`)).toBe("3");
    expect(value(`bucket{${labels},le="300"}`)).toBe("3");
    expect(value(`bucket{${labels},le="+Inf"}`)).toBe("4");
    expect(value(`count{${labels}}`)).toBe("4");
    expect(Number(value(`sum{${labels}}`))).toBeCloseTo(400.72);
    expect(value(`bucket{${labels.replace("success", "error")},le="0.02"}`)).toBe("1");
  });

  it("T41 a name cannot forge a line of metrics", () => {
    const { latency } = latencyAt();
    latency.record("a", 'x"} 1\nforged{y="\\', 1, true);
    const lines = latency.prometheus().trimEnd().split("\n");
    expect(lines).toHaveLength(2 + 17);
    expect(lines.every((line) => line.startsWith("#") || line.startsWith("mcp_client_"))).toBe(true);
    expect(lines[2]).toContain('tool="x\\"} 1\\nforged{y=\\"\\\\"');
  });
});
