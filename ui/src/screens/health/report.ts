// The checks as text, for a report of a problem.

import type { DoctorCheck } from "$api/doctor.ts";

const SIGNS = { ok: "ok", warning: "warning", problem: "PROBLEM" } as const;

export function reportText(version: string, checks: readonly DoctorCheck[]): string {
  const lines = checks.flatMap(({ section, name, status, message, fix }) => [
    `${SIGNS[status].padEnd(8)}${section}: ${name}: ${message}`,
    ...(fix === null || status === "ok" ? [] : fix.split("\n").map((line) => `        ${line}`)),
  ]);
  return [`plugboard ${version}`, ...lines].join("\n");
}
