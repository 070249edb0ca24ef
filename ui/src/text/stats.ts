// Text of the Stats page.

import { compact, count, ms, percent, plural } from "../lib/text/format.ts";

export const stats = {
  title: "Stats",
  heading: (n: number, failed: number) =>
    n === 0 ? "No calls in this time" : `${plural(n, "call")}, ${failed === 0 ? "none" : count(failed)} failed`,
  none: "No calls in this time. Choose a longer one, or call a tool.",
  range: "Time",
  presets: {
    "15m": "last 15 minutes",
    "1h": "last hour",
    "24h": "last 24 hours",
    "7d": "last 7 days",
    "30d": "last 30 days",
    all: "all that is kept",
  } as Readonly<Record<string, string>>,
  between: (from: string, until: string) => `${from} to ${until}`,
  wholeTime: "Whole time",
  by: "Divided",
  byOptions: { none: "all together", server: "by server", tool: "by tool", client: "by client" } as Readonly<
    Record<string, string>
  >,
  server: "Server",
  allServers: "all servers",
  client: "Client",
  allClients: "all clients",
  allCalls: "calls",
  ok: "ok",
  toolErrors: "tool errors",
  failed: "failed",
  other: "other",
  noKey: "without a name",
  calls: "Calls",
  callsCaption: (n: number, most: number, step: string) => `${plural(n, "call")}, at most ${count(most)} in ${step}`,
  errors: "Errors",
  errorsCaption: (failed: number, toolErrors: number, all: number) =>
    failed + toolErrors === 0
      ? "No errors"
      : [
          failed === 0 ? "No call failed" : `${count(failed)} failed (${percent(failed, all)})`,
          toolErrors === 0 ? "no tool errors" : `${plural(toolErrors, "tool error")} (${percent(toolErrors, all)})`,
        ].join(", "),
  durations: "Duration",
  durationsP95: "Duration, p95",
  durationsCaption: (p50: number, p95: number) => `Half of the calls under ${ms(p50)}, 95 % under ${ms(p95)}`,
  p50: "p50",
  p95: "p95",
  p99: "p99",
  logarithmic: "Logarithmic",
  asTable: "As a table",
  asChart: "As a chart",
  time: "Time",
  chartHelp: "Drag to choose a time; click for its calls.",
  showSeries: (name: string) => `Show ${name}`,
  perServer: "By server and tool",
  columns: {
    name: "Server, tool",
    calls: "Calls",
    errors: "Failed",
    toolErrors: "Tool errors",
    cancelled: "Cancelled",
    refused: "Refused",
    p50: "p50",
    p95: "p95",
    p99: "p99",
  },
  share: (part: number, all: number) => (part === 0 ? "0" : `${count(part)} (${percent(part, all)})`),
  openTools: (server: string) => `Tools of ${server}`,
  usage: "Processes now",
  usageHint: "Memory and processor time of the servers that run on this machine.",
  usageColumns: { server: "Server", processes: "Processes", memory: "Memory", cpu: "Processor time" },
  unused: (tools: number, tokens: number) =>
    `${plural(tools, "tool")} not called in this time, about ${compact(tokens)} tokens`,
  unusedHint: "Clients read the definitions of all tools of their group. Leave out of a group what is never called.",
  toGroups: "Groups",
  showUnused: "Show them",
  prometheus: "Prometheus",
  prometheusHint: "The same figures for a time-series database, without a limit of time.",
  scrape: "Scrape config",
};
