import { expect, it } from "vitest";
import { CallerDurations } from "./latency.ts";

const METRIC = "mcp_server_operation_duration_seconds";

function counts(durations: CallerDurations): string[] {
  return durations
    .prometheus()
    .split("\n")
    .flatMap((line) => (line.startsWith(`${METRIC}_count`) ? [line.slice(`${METRIC}_count`.length)] : []));
}

it("MG-3 distinguishes groups, clients, methods and outcomes", () => {
  const durations = new CallerDurations();
  const call = { group: "work", client: "cursor", method: "tools/call" };
  durations.record(call, 5, "ok");
  durations.record(call, 7, "ok");
  durations.record(call, 7, "failed");
  durations.record({ method: "prompts/get" }, 1, "ok");
  expect(counts(durations)).toEqual([
    '{group="work",client="cursor",method="tools/call",outcome="ok"} 2',
    '{group="work",client="cursor",method="tools/call",outcome="failed"} 1',
    '{group="",client="",method="prompts/get",outcome="ok"} 1',
  ]);
  expect(durations.prometheus()).toContain(
    `${METRIC}_bucket{group="work",client="cursor",method="tools/call",outcome="ok",le="0.01"} 2`,
  );
});

it("MG-3 invented names and methods share one label beyond a bound, and cannot forge a line", () => {
  const durations = new CallerDurations();
  for (let index = 0; index < 3000; index++)
    durations.record({ group: "g", client: `c${index}`, method: "tools/call" }, 1, "ok");
  for (let index = 0; index < 100; index++)
    durations.record({ group: "g", client: "c0", method: `x/${index}` }, 1, "ok");
  durations.record({ group: "g", client: 'a"} 1\nforged{b="', method: "tools/call" }, 1, "ok");
  durations.record({ group: "g", client: "c".repeat(500), method: "tools/call" }, 1, "ok");
  const lines = counts(durations);
  expect(lines).toHaveLength(1002);
  expect(lines.slice(-2)).toEqual([
    '{group="_other",client="_other",method="tools/call",outcome="ok"} 2002',
    '{group="_other",client="_other",method="_other",outcome="ok"} 100',
  ]);
});
