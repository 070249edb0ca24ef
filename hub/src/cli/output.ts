// How commands print: aligned tables without boxes, durations, and errors with cause and fix. stdout is the result,
// stderr everything else.

import type { HubError } from "../errors.ts";
import type { Hub } from "../hub.ts";
import type { Io } from "./io.ts";

export function printJson(io: Io, value: unknown): void {
  io.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

export function printError(error: HubError, io: Io, json: boolean): void {
  if (json) {
    io.stderr.write(`${JSON.stringify(error)}\n`);
    return;
  }
  const lines = [`error: ${error.message}`];
  if (error.field !== undefined) lines.push(`  field: ${error.field}`);
  if (error.detail !== undefined) lines.push(`  cause: ${error.detail.split("\n").join("\n         ")}`);
  if (error.kind === "Unexpected" && error.cause instanceof Error) lines.push(`  cause: ${error.cause.stack}`);
  if (error.hint !== undefined) lines.push(`  fix:   ${error.hint}`);
  io.stderr.write(`${lines.join("\n")}\n`);
}

/** What the hub warns of now, and from now on. */
export function printWarnings(io: Io, hub: Hub): void {
  const print = (message: string) => void io.stderr.write(`warning: ${message}\n`);
  for (const message of [...hub.warnings, ...hub.catalog.warnings]) print(message);
  hub.events.on("warning", ({ message }) => print(message));
}

/** Columns are as wide as their widest cell; the last one runs free. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  }
  return rows
    .map((row) =>
      row.map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0))).join("  "),
    )
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
}

/** @example seconds(840) // "0.8s" */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)}s`;
}

/** @example count(1, "tool") // "1 tool" */
export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

export function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
