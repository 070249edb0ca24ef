// Text of the Health page.

import { and, plural } from "../lib/text/format.ts";

export const health = {
  title: "Health",
  heading: (problems: number, warnings: number) => {
    if (problems === 0 && warnings === 0) return "Everything is in order";
    const parts = [
      problems > 0 ? plural(problems, "problem") : undefined,
      warnings > 0 ? plural(warnings, "warning") : undefined,
    ].filter((part) => part !== undefined);
    return and(parts);
  },
  checking: "Checking the machine, the hub, its servers and clients…",
  again: "Check again",
  sections: {
    machine: "Machine",
    hub: "Hub",
    config: "Config",
    servers: "Servers",
    clients: "Clients",
    files: "Files",
  } as Readonly<Record<string, string>>,
  status: { ok: "in order", warning: "warning", problem: "problem" },
  fix: "Fix",
  fixAll: (n: number) => `Fix ${plural(n, "thing")}`,
  fixed: (names: readonly string[]) => `Repaired: ${and(names)}`,
  copyReport: "Copy the report",
  report: "the report",
  now: "Now",
  about: "About",
  version: "Version",
  pid: "Process",
  running: "Running for",
};
