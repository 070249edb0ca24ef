// Series of the API as what the charts draw.

import type { Series } from "$api/call.ts";
import { cableOf } from "../../lib/servers/cable.ts";
import { stats as text } from "../../text/stats.ts";

export type By = "none" | "server" | "tool" | "client";

export interface Drawn {
  readonly label: string;
  readonly values: readonly (number | null)[];
  readonly colour: string;
  readonly shape: "bars" | "line";
  readonly dash?: readonly number[];
}

type Row = Series["series"][number];

const DASHES: readonly (readonly number[])[] = [[], [8, 3], [2, 3], [8, 3, 2, 3]];

/** Beside the colour each curve has strokes of its own: eight colours are not enough for twelve curves, nor for all eyes. */
function styleOf(key: string, index: number): Pick<Drawn, "colour" | "dash"> {
  const dash = DASHES[index % DASHES.length] ?? [];
  return { colour: `--c${cableOf(key)}`, ...(dash.length > 0 ? { dash } : {}) };
}

export function labelOf(key: string | null): string {
  return key === null || key === "" ? text.noKey : key === "other" ? text.other : key;
}

const add = (a: readonly number[], b: readonly number[]): number[] => a.map((value, index) => value + (b[index] ?? 0));

/** All calls, those that were not ok, and those that failed, as bars in front of each other. */
export function callsChart(series: readonly Row[], by: By): Drawn[] {
  if (by === "none") {
    const [all] = series;
    if (all === undefined) return [];
    return [
      { label: text.allCalls, values: all.calls, colour: "--ink-3", shape: "bars" },
      { label: text.toolErrors, values: add(all.errors, all.tool_errors), colour: "--warn", shape: "bars" },
      { label: text.failed, values: all.errors, colour: "--err", shape: "bars" },
    ];
  }
  return series.map((row, index) => ({
    label: labelOf(row.key),
    values: row.calls,
    shape: "line",
    ...styleOf(row.key ?? "", index),
  }));
}

export function errorsChart(series: readonly Row[]): Drawn[] {
  return series
    .map((row, index): Drawn => ({
      label: labelOf(row.key),
      values: add(row.errors, row.tool_errors),
      shape: "line",
      ...styleOf(row.key ?? "", index),
    }))
    .filter(({ values }) => values.some((value) => (value ?? 0) > 0));
}

export function durationsChart(series: readonly Row[], by: By): Drawn[] {
  if (by === "none") {
    const [all] = series;
    if (all === undefined) return [];
    return [
      { label: text.p50, values: all.p50_ms, colour: "--ink-3", shape: "line" },
      { label: text.p95, values: all.p95_ms, colour: "--ink", shape: "line", dash: [8, 3] },
      { label: text.p99, values: all.p99_ms, colour: "--warn", shape: "line", dash: [2, 3] },
    ];
  }
  return series.map((row, index) => ({
    label: labelOf(row.key),
    values: row.p95_ms,
    shape: "line",
    ...styleOf(row.key ?? "", index),
  }));
}

export function total(series: readonly Row[], member: "calls" | "errors" | "tool_errors"): number {
  return series.reduce((sum, row) => sum + row[member].reduce((part, value) => part + value, 0), 0);
}
