// Text of the palette and of the list of keys.

import { isMac } from "../keys.ts";

const MOD = isMac ? "⌘" : "Ctrl";

export const paletteText = {
  title: "Search or run",
  placeholder: "Server, tool, page, or an action: restart github",
  sections: { recent: "Recent", attention: "Needs attention", pages: "Pages", found: "Results" },
  call: (server: string, tool: string, at: string) => `${server} · ${tool} ${at}`,
  results: "Results",
  nothing: "Nothing found",
  kinds: {
    page: "page",
    server: "server",
    tool: "tool",
    group: "group",
    secret: "secret",
    client: "client",
    call: "call",
    action: "action",
  },
  key: `${MOD} K`,
  verbs: {
    restart: (name: string) => `restart ${name}`,
    start: (name: string) => `start ${name}`,
    stop: (name: string) => `stop ${name}`,
    enable: (name: string) => `turn on ${name}`,
    disable: (name: string) => `turn off ${name}`,
    log: (name: string) => `log of ${name}`,
    edit: (name: string) => `edit ${name}`,
    remove: (name: string) => `remove ${name}`,
    copyUrl: (group: string) => `copy address of group ${group}`,
    theme: (theme: string) => `theme ${theme}`,
    density: (density: string) => `density ${density}`,
    keys: "show all keys",
    signOut: "sign out",
  },
  copied: (what: string) => `Address of ${what} copied`,
};

export const keyText = {
  title: "Keys",
  off: "Single letters are off in fields, and can be switched off in the settings.",
  groups: [
    {
      title: "Everywhere",
      keys: [
        [`${MOD} K`, "search or run"],
        ["/", "filter of this page"],
        ["?", "all keys"],
        ["Esc", "close, clear the selection"],
      ],
    },
    {
      title: "In lists",
      keys: [
        ["j k ↓ ↑", "next, previous row"],
        ["Enter o", "open"],
        ["x", "select"],
        [".", "menu of the row"],
        ["n", "add a server, a group"],
      ],
    },
    {
      title: "With a server",
      keys: [
        ["r", "restart"],
        ["l", "log"],
        ["e", "edit"],
        ["[ ]", "previous, next tab"],
        [`${MOD} Enter`, "run, save"],
      ],
    },
  ],
  goTo: "Go to",
} as const;
