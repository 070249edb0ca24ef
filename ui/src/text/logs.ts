// Text of the Logs page.

import { count, plural } from "../lib/text/format.ts";

export const logs = {
  title: "Logs",
  heading: (servers: number) => `What the hub and ${plural(servers, "server")} write`,
  ofOne: (name: string) => `What ${name} writes`,
  writer: "Whose log",
  source: "Source",
  anySource: "stderr and messages",
  sources: { stderr: "stderr", mcp: "MCP messages" },
  everything: "the hub and all servers",
  hub: "the hub",
  level: "Level",
  levels: { debug: "all levels", info: "info and above", warn: "warnings and errors", error: "errors" },
  pause: "Pause",
  resume: "Continue",
  paused: (n: number) => `Paused, ${count(n)} new`,
  none: "No line is kept.",
  noneOfLevel: "No line of this level.",
  dropped: (n: number) => `${plural(n, "older line")} left the memory of this page`,
  label: "Log lines",
};
