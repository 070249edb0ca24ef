// Text of the Clients page.

import { and, bytes, count, plural } from "../lib/text/format.ts";

const TRANSPORTS: Readonly<Record<string, string>> = {
  http: "Streamable HTTP",
  sse: "HTTP with SSE",
  websocket: "WebSocket",
  stdio: "stdio",
  bridge: "stdio, through plugboard stdio",
  stateless: "HTTP, without a session",
};

export const clients = {
  title: "Clients",
  heading: (connected: number, installed: number) =>
    [
      connected === 0 ? "No client is connected" : `${plural(connected, "client is", "clients are")} connected`,
      installed === 0
        ? "none has the hub in its file"
        : `${plural(installed, "client has", "clients have")} the hub in its file`,
    ].join("; "),
  connected: "Connected now",
  notConnected: "No client is connected. Install the hub in one below, or give it the address.",
  transport: (name: string) => TRANSPORTS[name] ?? name,
  columns: {
    client: "Client",
    transport: "Transport",
    group: "Group",
    calls: "Calls",
    since: "Since",
    last: "Last call",
    file: "File",
    hub: "Hub",
    own: "Servers of its own",
    actions: "Actions",
    backup: "Backup",
    at: "When",
    size: "Size",
  },
  inFlight: (n: number) => `${count(n)} running`,
  subscriptions: (n: number) => plural(n, "subscription"),
  noName: "unnamed client",
  never: "none yet",
  calls: "Calls",
  disconnect: "Disconnect",
  disconnectTitle: (name: string) => `Disconnect ${name}?`,
  disconnectText: "Its session ends, and calls that run are cancelled. Most clients connect again by themselves.",
  disconnected: (name: string) => `${name} is disconnected`,

  machine: "On this machine",
  known: (known: number, found: number) => `${count(known)} known, ${count(found)} found`,
  hubYes: (group: string) => `yes, group ${group}`,
  hubNo: "no",
  notFound: "not found",
  showMissing: (n: number) => `${plural(n, "client")} not found on this machine`,
  ownServers: (own: number, duplicates: number) =>
    own === 0
      ? "none"
      : duplicates === 0
        ? count(own)
        : duplicates === own
          ? `${count(own)}, all also in the hub`
          : `${count(own)}, ${count(duplicates)} also in the hub`,
  install: "Install",
  change: "Change",
  takeOver: "Take over",
  remove: "Remove",
  openLink: "Add in the client",
  broken: "This file cannot be read",

  installTitle: (client: string) => `Give the hub to ${client}`,
  takeOverTitle: (client: string) => `Take over the servers of ${client}`,
  takeOverText: (names: readonly string[]) =>
    `${and(names)} would leave the file, because the hub runs them too. A backup of the file is kept.`,
  group: "Group",
  groupHint: "The client sees the tools of this group.",
  connects: "It connects through",
  connectsHint: "plugboard stdio starts the hub if none runs.",
  nextStep: (hint: string) => `Then: ${hint}`,
  transports: {
    http: "HTTP, at the hub's address",
    stdio: "plugboard stdio",
  } as Readonly<Record<string, string>>,
  alsoTakeOver: (n: number) => `Also take out ${plural(n, "server")} that the hub has`,
  project: "Folder of a project, for its own file",
  projectHint: "Leave empty for the file of the user.",
  reviewing: "Reading the file…",
  noChange: "The file is already as it would be.",
  write: "Write the file",
  written: (path: string) => `${path} is written`,
  nothingWritten: "Nothing had to be changed",
  undo: "Undo",
  restored: (path: string) => `${path} is as it was before`,
  removeTitle: (client: string) => `Take the hub out of ${client}?`,
  removeText: (path: string) => `The hub's entry leaves ${path}. A backup is kept.`,
  removed: (client: string) => `${client} has no entry of the hub any more`,
  diff: (path: string) => `Change of ${path}`,

  import: "Servers of other clients",
  importHint: "These are in the files of clients on this machine, and not in the hub. The files stay as they are.",
  importNone: "The hub has every server that the clients of this machine have.",
  importShow: "Look for servers to import",
  importing: "Import",
  importN: (n: number) => `Import ${count(n)}`,
  imported: (names: readonly string[]) => `${and(names)} imported`,
  skipped: (name: string, reason: string) => `${name}: ${reason}`,
  importColumns: { server: "Server", runs: "Runs", from: "From", note: "Note" },
  credentials: (n: number) => `${plural(n, "credential")} to the secret store`,
  lookFirst: "off at first: look at it before it runs",
  needs: (names: readonly string[]) => `needs ${and(names)}`,
  states: { same: "in the hub", conflict: "another server has this name", invalid: "cannot be used" } as Readonly<
    Record<string, string>
  >,

  other: "Any other client",
  otherHint: (url: string) => `Whatever speaks MCP can use ${url}.`,
  snippets: "Ways to connect",
  url: "URL",
  dialects: {
    http: "JSON, HTTP",
    stdio: "JSON, stdio",
    toml: "TOML",
    yaml: "YAML",
    vscode: "VS Code",
    sse: "SSE",
    websocket: "WebSocket",
  },

  backups: "Backups",
  backupsHint: "Files of clients as they were before the hub changed them.",
  noBackups: "No file was changed yet.",
  noFile: "there was no file",
  size: (n: number | null) => (n === null ? "there was no file" : bytes(n)),
  restore: "Restore",
  restoreTitle: (path: string) => `Restore ${path}?`,
  restoreText: (when: string) => `The file becomes what it was at ${when}. What it is now is kept as another backup.`,
};
