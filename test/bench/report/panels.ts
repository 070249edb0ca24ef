// The figures that the chart shows.

import type { Panel } from "./chart.ts";
import type { Results, Spot } from "./results.ts";
import { toNumber } from "./table.ts";

const SHOWN: readonly (Omit<Spot, "target"> & { readonly title: string; readonly unit: string })[] = [
  {
    title: "Calls per second, 100 B, 16 in flight, one stdio server (more is better)",
    scenario: "stdio",
    phase: "100 B × 16",
    figure: "perSecond",
    unit: "",
  },
  {
    title: "CPU time of such a call, µs (less is better)",
    scenario: "stdio",
    phase: "100 B × 16",
    figure: "cpuUs",
    unit: "µs",
  },
  {
    title: "Start to the first answer of a tool, ms (less is better)",
    scenario: "starts",
    phase: "start",
    figure: "coldMs",
    unit: "ms",
  },
  {
    title: "Memory with nothing to do, MB (less is better)",
    scenario: "starts",
    phase: "start",
    figure: "idleMb",
    unit: "MB",
  },
];

/** Bridges have another purpose. */
const HUBS = [
  "direct",
  "thin",
  "plugboard",
  "mcp-proxy (Rust)",
  "mcp-proxy (Go)",
  "mcp-hub",
  "mcp-proxy",
  "supergateway",
];

export function panelsOf(results: Results): Panel[] {
  return SHOWN.map(({ title, unit, ...spot }) => ({
    title,
    bars: HUBS.flatMap((target) => {
      const value = results.figure({ ...spot, target });
      if (value === undefined) return [];
      return [{ label: target, value, text: `${toNumber(value)} ${unit}`.trim(), isOurs: target === "plugboard" }];
    }),
  })).filter(({ bars }) => bars.length > 0);
}
