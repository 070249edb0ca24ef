// Text of the first page of a new hub.

import { and, count, plural } from "../lib/text/format.ts";

export const welcomeText = {
  title: "Welcome. Plugboard puts all your MCP servers behind one address.",
  servers: "Servers you already have",
  foundIn: (clients: readonly string[]) => `found in ${and(clients)}`,
  noneFound: "No client of this machine has servers that the hub lacks.",
  secrets: (n: number) => `${plural(n, "credential")} to the secret store`,
  off: "off: look at it first",
  state: { new: "", same: "the hub has it", conflict: "another server has this name", invalid: "not usable" },
  import: (n: number) => `Import ${count(n)}`,
  importNote: "The files of these programs stay as they are.",
  imported: (names: readonly string[]) => `${and(names)} imported`,
  skipped: (name: string, reason: string) => `${name}: ${reason}`,
  paste: "Paste a server",
  clients: "Give the hub to your clients",
  noClients: "No known client was found on this machine. Any MCP client can use the address.",
  hasHub: (group: string) => `has the hub, group ${group}`,
  review: (client: string) => `Review the change of ${client}`,
  install: (n: number) => (n === 1 ? "Install in 1 client" : `Install in ${count(n)} clients`),
  installed: (client: string, hint: string | null) =>
    hint === null || hint === "" ? `${client} has the hub now` : `${client} has the hub now: ${hint}`,
  takeover: (n: number) =>
    `take its own ${n === 1 ? "copy" : `${count(n)} copies`} out: the hub has ${n === 1 ? "it" : "them"}`,
  works: "See it work",
  waiting: "Waiting for a first client…",
  connected: (client: string, group: string) => `${client} connected, group ${group}`,
  called: (client: string, tool: string) => `${client} called ${tool}`,
  tryTool: "Try a tool",
  done: "Done",
  select: (name: string, client: string) => `Import ${name} of ${client}`,
  selectClient: (client: string) => `Install in ${client}`,
};
