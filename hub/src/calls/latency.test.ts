import { describe, expect, it } from "vitest";
import { Latency } from "./latency.ts";

function countsOf(latency: Latency): string[] {
  return latency
    .prometheus()
    .split("\n")
    .flatMap(
      (line) => /^mcp_client_operation_duration_seconds_count\{(.*)\} (\d+)$/.exec(line)?.slice(1).join(" ") ?? [],
    );
}

describe("Latency", () => {
  it("MG-5 counts calls that servers answered or failed, not cancelled or refused ones", () => {
    const latency = new Latency();
    for (const outcome of ["ok", "ok", "tool_error", "failed", "cancelled", "refused"] as const) {
      latency.record("git", "log", 5, outcome);
    }
    expect(countsOf(latency)).toEqual([
      'server="git",method="tools/call",tool="log",outcome="ok" 2',
      'server="git",method="tools/call",tool="log",outcome="tool_error" 1',
      'server="git",method="tools/call",tool="log",outcome="failed" 1',
    ]);
  });

  it("RS-5 invalid durations do not spoil the sums", () => {
    const latency = new Latency();
    for (const ms of [-5, 0, NaN, Infinity, 1e15]) latency.record("s", "t", ms, "failed");
    expect(countsOf(latency)).toEqual(['server="s",method="tools/call",tool="t",outcome="failed" 5']);
    expect(latency.prometheus()).not.toMatch(/NaN|Infinity/);
  });

  it("RS-5 at most 2,000 tools and 500 servers have their own series", () => {
    const latency = new Latency();
    for (let index = 0; index < 3000; index++) latency.record("s", `tool-${index}`, 1, "ok");
    expect(countsOf(latency)).toHaveLength(2001);
    expect(countsOf(latency).at(-1)).toBe('server="s",method="tools/call",tool="_other",outcome="ok" 1000');
    for (let index = 0; index < 600; index++) latency.record(`server-${index}`, "t", 1, "ok");
    expect(countsOf(latency).at(-1)).toBe('server="_other",method="tools/call",tool="_other",outcome="ok" 101');
  });

  it("RS-5 F47 a server that was removed makes room for another", () => {
    const latency = new Latency();
    for (let n = 0; n < 3000; n++) {
      latency.record(`s${n}`, "t", 1, "ok");
      if (n > 0) latency.forget(`s${n}`);
    }
    latency.forget("nobody");
    latency.record("last", "t", 1, "ok");
    expect(countsOf(latency)).toEqual([
      'server="s0",method="tools/call",tool="t",outcome="ok" 1',
      'server="last",method="tools/call",tool="t",outcome="ok" 1',
    ]);
  });

  it("RS-5 Prometheus gets cumulative buckets with their sum and count", () => {
    const latency = new Latency();
    for (const ms of [5, 15, 700, 400_000]) latency.record("git", "log", ms, "ok");
    latency.record("git", "log", 20, "failed");
    const lines = latency.prometheus().split("\n");
    const labels = 'server="git",method="tools/call",tool="log",outcome="ok"';
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
    expect(value(`bucket{${labels.replace('"ok"', '"failed"')},le="0.02"}`)).toBe("1");
  });

  it("T41 a name cannot forge a line of metrics", () => {
    const latency = new Latency();
    latency.record("a", 'x"} 1\nforged{y="\\', 1, "ok");
    const lines = latency.prometheus().trimEnd().split("\n");
    expect(lines).toHaveLength(2 + 17);
    expect(lines.every((line) => line.startsWith("#") || line.startsWith("mcp_client_"))).toBe(true);
    expect(lines[2]).toContain('tool="x\\"} 1\\nforged{y=\\"\\\\"');
  });
});
