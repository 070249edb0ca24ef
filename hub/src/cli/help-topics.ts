// `plugboard help TOPIC`: a page of text about what several commands have in common. The docs have the details.

import { ERRORS, type ErrorKind } from "../errors.ts";
import { exitCodes } from "./exit-codes.ts";
import { table } from "./terminal/table.ts";

interface Topic {
  readonly about: string;
  readonly text: () => string;
  /** In docs/. */
  readonly page: string;
}

/** In the order of the list. */
export const TOPICS: Readonly<Record<string, Topic>> = {
  config: {
    about: "the files, where they are, and what is in them",
    page: "config.md",
    text: () => `\
Servers are in mcp_server.json, groups in group.json, and in hub.json is where the hub listens and who may use it.
The hub reloads the first two when they are saved, and restarts only the servers that changed.

  plugboard config path       the folder of the files
  plugboard config show       the config that is in force, secrets hidden
  plugboard config validate   what is wrong with the files
  plugboard config schema     JSON Schemas, for editors

A server is a command or an address:

  { "mcpServers": {
      "memory":  { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"] },
      "tickets": { "url": "https://tickets.example/mcp", "headers": { "Authorization": "Bearer \${TOKEN}" } } } }

PLUGBOARD_HOME=DIR puts config, data, state and cache into one folder; PLUGBOARD_CONFIG=DIR and --config move the config.`,
  },
  groups: {
    about: "which client sees which tools",
    page: "groups.md",
    text: () => `\
A group selects servers and tools, and has an endpoint of its own: /groups/NAME/mcp, or plugboard stdio --group NAME.
Without a group named default, the endpoint /mcp has the tools of all servers.

  plugboard group add dev --servers github,memory --tools 'memory:*' --tools 'search_*'
  plugboard group get dev                 its tools, under the names that clients see
  plugboard group tool dev memory.read_graph --as graph

An entry of tools is a name, server:tool, or either with *; one that begins with ! takes tools out again.
If two servers have a tool of the same name, clients see both as server__tool; server:tool always means one.`,
  },
  auth: {
    about: "logins at servers, and access to the hub",
    page: "access.md and docs/login.md",
    text: () => `\
Logins at remote servers (OAuth) are made by the hub, which keeps and renews the tokens:

  plugboard auth                 all logins, and which servers need one
  plugboard auth SERVER          log in, in a browser

Access to the hub: on its own machine clients need nothing. Others need a token, and hub.json with an address and TLS:

  plugboard token add alice --group dev      an access token, shown once
  plugboard grant ls                         programs that people let in by OAuth
  plugboard user ls, plugboard audit         who has signed in, and who did what`,
  },
  secrets: {
    about: "keeping credentials out of the files",
    page: "config.md#secrets",
    text: () => `\
Secrets are stored encrypted. An entry names one, and its value is filled in when the server starts:

  plugboard secret set GITHUB_TOKEN          asks for the value, or reads it from stdin
  { "command": "…", "env": { "GITHUB_TOKEN": { "secretRef": "GITHUB_TOKEN" } } }

\${NAME} in env, args, url and headers is a variable of the hub's environment; a remote server gets only those in its
allowEnv. No value is ever printed, logged or saved back to a file.`,
  },
  calls: {
    about: "calling tools, and the log of all calls",
    page: "cli.md#tools-and-calls",
    text: () => `\
  plugboard tools [server]                        what can be called
  plugboard call server.tool key=value …          values are JSON where the schema says so, else text
  plugboard call server.tool '{"key": "value"}'   or - to read JSON from stdin
  plugboard calls -f                              the log; plugboard calls ID shows one call in full
  plugboard stats --since 7d                      p50, p95 and p99 of each server

The result is on stdout, everything else on stderr. A tool that reports an error exits 5.`,
  },
  clients: {
    about: "connecting Claude, Cursor, VS Code and others",
    page: "clients.md",
    text: () => `\
  plugboard import                   takes over the servers of other clients; their files stay as they are
  plugboard install cursor vscode    adds the hub to their files, with a backup
  plugboard clients                  which are here, and where their files are

By hand: the address is http://127.0.0.1:7430/mcp. For a client that launches its servers, the command is plugboard stdio.`,
  },
  service: {
    about: "running the hub in the background and at boot",
    page: "cli.md#plugboard-service",
    text: () => `\
  plugboard up                  in the foreground
  plugboard start, stop         in the background, until the next reboot
  plugboard service install     as a service of systemd or launchd, which survives a reboot
  plugboard stdio               only while one client runs it`,
  },
  errors: {
    about: "kinds of errors, and their codes",
    page: "errors.md",
    text: () => `\
An error has a code, a kind that says more, and mostly a fix. With --json it is one line of JSON on stderr.

${kinds()}`,
  },
  "exit-codes": { about: "what the exit codes mean", page: "errors.md#exit-codes", text: () => exitCodes(false) },
};

/** The topic as text, or as JSON. */
export function helpOn(name: string, json: boolean): string {
  const topic = TOPICS[name];
  if (topic === undefined) return "";
  if (json && name === "exit-codes") return exitCodes(true);
  const text = topic.text().trimEnd();
  if (json)
    return `${JSON.stringify({ topic: name, about: topic.about, text, page: `docs/${topic.page}` }, null, 2)}\n`;
  return `${text}\n\nMore: docs/${topic.page}\n`;
}

export function listOfTopics(): string {
  const rows = Object.entries(TOPICS).map(([name, { about }]) => [`  ${name}`, about]);
  return `Topics: plugboard help <topic>\n${table(rows).trimEnd()}`;
}

function kinds(): string {
  const names: ErrorKind[] = [];
  for (const kind in ERRORS) if (isKind(kind)) names.push(kind);
  const rows = names.map((kind) => [kind, ERRORS[kind].code, String(ERRORS[kind].http), String(ERRORS[kind].exit)]);
  return table([["KIND", "CODE", "HTTP", "EXIT"], ...rows], { right: [2, 3] });
}

function isKind(kind: string): kind is ErrorKind {
  return Object.hasOwn(ERRORS, kind);
}
