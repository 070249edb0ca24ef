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
  served.record(call, 5, true);
  served.record(call, 7, true);
  served.record(call, 7, false);
  served.record({ method: "prompts/get" }, 1, true);
  expect(counts(served)).toEqual([
    '{group="work",client="cursor",method="tools/call",outcome="success"} 2',
    '{group="work",client="cursor",method="tools/call",outcome="error"} 1',
    '{group="",client="",method="prompts/get",outcome="success"} 1',
  ]);
  expect(served.prometheus()).toContain(
    `${METRIC}_bucket{group="work",client="cursor",method="tools/call",outcome="success",le="0.01"} 2`,
  );
});

it("MG-3 callers that make up names and methods are one beyond a bound, and cannot forge a line", () => {
  const served = new ServedDurations();
  for (let index = 0; index < 3000; index++)
    served.record({ group: "g", client: `c${index}`, method: "tools/call" }, 1, true);
  for (let index = 0; index < 100; index++) served.record({ group: "g", client: "c0", method: `x/${index}` }, 1, true);
  served.record({ group: "g", client: 'a"} 1\nforged{b="', method: "tools/call" }, 1, true);
  served.record({ group: "g", client: "c".repeat(500), method: "tools/call" }, 1, true);
  const lines = counts(served);
  expect(lines).toHaveLength(1002);
  expect(lines.slice(-2)).toEqual([
    '{group="_other",client="_other",method="tools/call",outcome="success"} 2002',
    '{group="_other",client="_other",method="_other",outcome="success"} 100',
  ]);
});
