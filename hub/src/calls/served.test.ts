import { expect, it } from "vitest";
import { ServedDurations } from "./served.ts";

const METRIC = "mcp_server_operation_duration_seconds";

function counts(served: ServedDurations): string[] {
  return served
    .prometheus()
    .split("\n")
    .flatMap((line) => (line.startsWith(`${METRIC}_count`) ? [line.slice(`${METRIC}_count`.length)] : []));
}

it("MG-3 tells groups, clients, methods and outcomes apart", () => {
  const served = new ServedDurations();
  const call = { group: "work", client: "cursor", method: "tools/call" };
  served.record(call, 5, "ok");
  served.record(call, 7, "ok");
  served.record(call, 7, "failed");
  served.record({ method: "prompts/get" }, 1, "ok");
  expect(counts(served)).toEqual([
    '{group="work",client="cursor",method="tools/call",outcome="ok"} 2',
    '{group="work",client="cursor",method="tools/call",outcome="failed"} 1',
    '{group="",client="",method="prompts/get",outcome="ok"} 1',
  ]);
  expect(served.prometheus()).toContain(
    `${METRIC}_bucket{group="work",client="cursor",method="tools/call",outcome="ok",le="0.01"} 2`,
  );
});

it("MG-3 callers that make up names and methods are one beyond a bound, and cannot forge a line", () => {
  const served = new ServedDurations();
  for (let index = 0; index < 3000; index++)
    served.record({ group: "g", client: `c${index}`, method: "tools/call" }, 1, "ok");
  for (let index = 0; index < 100; index++) served.record({ group: "g", client: "c0", method: `x/${index}` }, 1, "ok");
  served.record({ group: "g", client: 'a"} 1\nforged{b="', method: "tools/call" }, 1, "ok");
  served.record({ group: "g", client: "c".repeat(500), method: "tools/call" }, 1, "ok");
  const lines = counts(served);
  expect(lines).toHaveLength(1002);
  expect(lines.slice(-2)).toEqual([
    '{group="_other",client="_other",method="tools/call",outcome="ok"} 2002',
    '{group="_other",client="_other",method="_other",outcome="ok"} 100',
  ]);
});
