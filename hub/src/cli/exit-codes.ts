// The meaning of the exit codes, for `plugboard help exit-codes` and the general help. errors.ts maps errors to codes.

import { ERRORS } from "../errors.ts";
import { table } from "./terminal/table.ts";

const MEANINGS: readonly (readonly [code: number, short: string, more: string])[] = [
  [0, "ok", "also ls with broken servers; use status --check or doctor to detect them"],
  [1, "failed", "also status --check and doctor if something does not work"],
  [2, "usage", "a wrong argument, option, value or config"],
  [3, "credentials needed", "the token of a hub, or the login of a remote server, is missing or wrong"],
  [4, "hub or server unreachable", "not running, did not start, did not answer in time"],
  [5, "the tool returned an error", "the call reached the tool, and the tool reported a failure"],
  [6, "not found", "no such server, tool, group, secret or package, or no launcher for it"],
  [7, "conflict", "the name or port is taken, the server is disabled, or another client changed it first"],
  [130, "interrupted", "Ctrl-C"],
];

export function exitCodes(json: boolean): string {
  const rows = MEANINGS.map(([exit_code, meaning, detail]) => ({
    exit_code,
    meaning,
    detail,
    kinds: kindsOf(exit_code),
  }));
  if (json) return `${JSON.stringify(rows, null, 2)}\n`;
  return table(
    [
      ["CODE", "MEANING", "", ""],
      ...rows.map(({ exit_code, meaning, detail, kinds }) => [String(exit_code), meaning, detail, kinds.join(" ")]),
    ],
    { right: [0] },
  );
}

/** @example "0 ok, 1 failed, …", on lines of at most 100 columns */
export function exitCodeSummary(): string {
  const texts = MEANINGS.map(([code, short]) => `${code} ${short}`);
  return `Exit codes: ${texts.slice(0, 5).join(", ")},\n            ${texts.slice(5).join(", ")}`;
}

function kindsOf(code: number): string[] {
  return Object.entries(ERRORS).flatMap(([kind, { exit }]) => (exit === code ? [kind] : []));
}
