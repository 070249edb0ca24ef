// What the exit codes mean: `plugboard help exit-codes`, and one line in the general help. Which error has which code is
// decided in errors.ts.

import { ERRORS } from "../errors.ts";
import { table } from "./table.ts";

export const EXIT_CODES_TOPIC = "exit-codes";

const MEANINGS: readonly (readonly [code: number, short: string, more: string])[] = [
  [0, "ok", "also ls with servers that do not work; status --check and doctor are for that"],
  [1, "failed", "also status --check and doctor, where something does not work"],
  [2, "usage", "a wrong word, option, value or config"],
  [3, "credentials needed", "the token of a hub, or what a remote server wants, is missing or wrong"],
  [4, "hub or server unreachable", "not running, did not start, did not answer in time"],
  [5, "the tool returned an error", "it was called, and says that it failed"],
  [6, "not found", "no such server, tool, group, secret or package"],
  [7, "conflict", "the name is taken, the server is disabled, or somebody else was faster"],
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

/** @example "0 ok, 1 failed, …" on lines that a terminal of 100 columns shows whole */
export function exitCodeSummary(): string {
  const texts = MEANINGS.map(([code, short]) => `${code} ${short}`);
  return `Exit codes: ${texts.slice(0, 5).join(", ")},\n            ${texts.slice(5).join(", ")}`;
}

function kindsOf(code: number): string[] {
  return Object.entries(ERRORS).flatMap(([kind, { exit }]) => (exit === code ? [kind] : []));
}
