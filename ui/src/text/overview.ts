// Text of the first page.

import { count, ms, plural } from "../lib/text/format.ts";

export const overview = {
  title: "Overview",
  sentence: (working: number, all: number) => {
    if (all === 0) return "All servers are off";
    if (working < all) return `${count(working)} of ${plural(all, "server")} ${working === 1 ? "works" : "work"}`;
    return all === 1 ? "The server works" : `All ${count(all)} servers work`;
  },
  latency: (p50: number, p95: number) => `half of them under ${ms(p50)}, 95 % under ${ms(p95)}`,
  clients: (n: number) => (n === 0 ? "no client connected" : `${plural(n, "client")} connected`),
  noCalls: (range: string) => `No calls in the last ${range}. Connect a client, or try a tool.`,
  range: "Time",
  ranges: { "1h": "last hour", "24h": "last 24 h", "7d": "last 7 days", "30d": "last 30 days" },
  rangeWords: { "1h": "hour", "24h": "24 hours", "7d": "7 days", "30d": "30 days" },
  attention: (n: number) => `Needs attention (${count(n)})`,
  moreAttention: (n: number) => `${count(n)} more`,
  mute: "Hide until it changes",
  muted: (n: number) => `${count(n)} hidden`,
  nextTry: (seconds: number, tries: number) => `${plural(tries, "try", "tries")} failed, next in ${count(seconds)} s`,
  give: "Give this to a client",
  group: "Group",
  address: "the address",
  install: (client: string) => `Install in ${client}`,
  allClients: "All clients",
  sees: (tools: number, tokens: string) =>
    tools === 0 ? "A client sees no tools" : `A client sees ${plural(tools, "tool")}, ${tokens} tokens`,
  seesMore: (n: number) => `and ${count(n)} more`,
  tryTool: "Try a tool",
  now: "Right now",
  nothingNow: "Nothing runs.",
  stop: "Stop",
  lastCalls: "Last calls",
  callsOver: "Calls",
  failedOver: "Errors",
  p95Over: "p95",
  callsCurve: (total: number, range: string) => `${plural(total, "call")} in the last ${range}`,
  failedCurve: (failed: number, toolErrors: number, range: string) =>
    `${plural(failed, "failed call")} and ${plural(toolErrors, "tool error")} in the last ${range}`,
  p95Curve: (range: string) => `95th percentile of the duration in the last ${range}`,
  peak: (value: string) => `peak ${value}`,
  busiest: "Busiest tools",
  tools: (server: string) => `Tools of ${server}`,
  noServers: "There is no server yet.",
  degraded: "Degraded",
  configRejected: "The config files are not accepted. The config before is in force.",
};
