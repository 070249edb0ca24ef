// Text of the shell: bar, banners, sign-in.

export const shell = {
  skip: "Skip to the page",
  pages: "Pages",
  menu: "Menu",
  more: "More",
  search: "Search or run",
  apiDocs: "API description",
  live: "live",
  connecting: "connecting",
  waiting: "not connected",
  stopping: "the hub is stopping",
  hub: (state: string) => `Hub: ${state}`,
  stoppingBanner: "The hub is stopping.",
  awayBanner: (lastSeen: string | undefined, inSeconds: number | undefined) =>
    [
      "The hub does not answer.",
      lastSeen === undefined ? "" : `Last heard at ${lastSeen}.`,
      inSeconds === undefined ? "Trying…" : `Next try in ${inSeconds} s.`,
    ]
      .filter(Boolean)
      .join(" "),
  retryNow: "Retry now",
  newTitle: (title: string) => `${title} – Plugboard`,
};

export const signIn = {
  title: "This browser is not signed in",
  by: (provider: string) => `Sign in with ${provider}`,
  or: "The owner of the hub signs in by a link.",
  run: "In a terminal of this machine run",
  command: "plugboard open",
  paste: "or paste the link that it prints",
  placeholder: "http://…/ui/#k=…",
  button: "Sign in",
  once: "A link works once, for ten minutes. Used or older: make a new one.",
  noKey: "That is not a sign-in link: it ends with #k= and 43 characters",
  otherHub: (host: string) => `That link is for another hub, at ${host}`,
  used: "This link is not valid any more: it has been used, or is older than ten minutes",
};

export const account = {
  label: "Who is signed in",
  owner: "Signed in as the owner of the hub",
  roles: { user: "User", operator: "Operator", admin: "Administrator" },
  signOut: "Sign out",
  notYours: "Your role does not include this page",
  notYoursHint: "An administrator of the hub decides what you may do.",
};

export const news = {
  failed: (server: string, message: string) => `${server} does not work: ${message}`,
  needsLogin: (server: string) => `${server} needs a login`,
  configChanged: (description: string) => `Config changed: ${description}`,
};

export const hubFacts = {
  title: "The hub",
  version: "Version",
  pid: "Process",
  uptime: "Up for",
  revision: "Config",
  tools: "Tools",
  warnings: (n: number) => (n === 1 ? "1 warning" : `${n} warnings`),
  rejected: "The config files are not accepted; the config before is in force.",
  openEditor: "Open the editor",
};
