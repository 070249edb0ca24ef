// Text of the list of servers and of what can be done with them.

import { and, count, plural } from "../lib/text/format.ts";

export const serversText = {
  title: "Servers",
  sentence: (all: number, running: number, starting: number, attention: number, off: number) => {
    const parts = [
      running > 0 ? `${count(running)} running` : "",
      starting > 0 ? `${count(starting)} starting` : "",
      attention > 0 ? `${count(attention)} ${attention === 1 ? "needs" : "need"} attention` : "",
      off > 0 ? `${count(off)} off` : "",
    ].filter(Boolean);
    return parts.length === 0 ? plural(all, "server") : `${plural(all, "server")}: ${parts.join(", ")}`;
  },
  filtered: (shown: number, all: number) => `${count(shown)} of ${plural(all, "server")}`,
  none: "There is no server yet.",
  noneMatch: "No server matches.",
  add: "Add server",
  addCommand: "plugboard add",
  filter: "Filter by name, command or error",
  state: "State",
  anyState: "any state",
  kind: "Kind",
  anyKind: "any kind",
  group: "Group",
  anyGroup: "any group",
  columns: {
    name: "Server",
    state: "State",
    kind: "Kind",
    tools: "Tools",
    tokens: "≈Tokens",
    calls: "Calls 24 h",
    p50: "p50",
    p95: "p95",
    errors: "Failed",
    since: "Up",
    groups: "Groups",
    actions: "Actions",
  },
  table: "Servers and their state",
  chooseColumns: "Columns",
  states: {
    attention: "needs attention",
    running: "running",
    starting: "starting",
    stopped: "stopped",
    off: "off",
  },
  actions: {
    restart: "Restart",
    start: "Start",
    stop: "Stop",
    enable: "Turn on",
    disable: "Turn off",
    test: "Test",
    log: "Log",
    tryTool: "Try a tool",
    edit: "Edit",
    duplicate: "Duplicate",
    copyJson: "Copy as JSON",
    copyCommand: "Copy as command",
    update: "Update package",
    rollBack: "Back to the version before",
    remove: "Remove",
    addToGroup: "Add to group…",
    login: "Log in",
    setSecret: (name: string) => `Set ${name}`,
    menu: (name: string) => `More for ${name}`,
  },
  onOff: (name: string, on: boolean) => (on ? `${name} is on` : `${name} is off`),
  selected: (n: number) => `${count(n)} selected`,
  progress: (done: number, all: number, failed: number) =>
    failed === 0 ? `${count(done)} of ${count(all)}` : `${count(done)} of ${count(all)}, ${count(failed)} failed`,
  stopBulk: "Stop",
  clearSelection: "Clear selection",
  removeTitle: (names: readonly string[]) =>
    names.length === 1 ? `Remove ${names[0]}?` : `Remove ${plural(names.length, "server")}?`,
  removeText: (tools: number, groups: readonly string[], secrets: readonly string[]) =>
    [
      groups.length === 0
        ? ""
        : `${plural(tools, "tool")} ${tools === 1 ? "leaves" : "leave"} the ${groups.length === 1 ? "group" : "groups"} ${and(groups)}.`,
      secrets.length === 0
        ? ""
        : `The ${secrets.length === 1 ? "secret" : "secrets"} ${and(secrets)} ${secrets.length === 1 ? "stays" : "stay"}.`,
    ]
      .filter(Boolean)
      .join(" "),
  removeSecrets: (secrets: readonly string[]) =>
    secrets.length === 1 ? "Delete the secret too" : "Delete these secrets too",
  removed: (names: readonly string[]) =>
    names.length === 1 ? `${names[0]} removed` : `${plural(names.length, "server")} removed`,
  failed: (name: string, message: string) => `${name}: ${message}`,
  tryingUpdate: (name: string) => `Trying the newest version of ${name}`,
  updateTitle: (name: string, version: string) => `Update ${name} to ${version}`,
  sameTools: "Its tools stay the same.",
  changedTools: "What changes in its tools:",
  updated: (name: string, version: string) => `${name} runs ${version} now`,
  upToDate: (name: string, version: string) => `${name} runs ${version} already, the newest allowed`,
  secretHint: "Stored encrypted by the hub. It is not shown again.",
  setAndStart: "Store and start",
  testOk: (name: string, tools: number, took: string) => `${name} works: ${plural(tools, "tool")} in ${took}`,
};
