// Options that both commander and entry.ts read, in the form of `parseArgs` with their help texts.

import type { Command, Option } from "commander";

interface OptionRow {
  readonly type: "string" | "boolean";
  readonly short?: string;
  readonly multiple?: boolean;
  readonly default?: string;
  /** Placeholder of the value in the help. */
  readonly value?: string;
  readonly about: string;
}

type OptionTable = Readonly<Record<string, OptionRow>>;

/** Options of every command. */
export const GLOBAL_OPTIONS = {
  config: { type: "string", value: "dir", about: "folder of mcp_server.json and group.json" },
  json: { type: "boolean", about: "machine-readable output" },
  quiet: { type: "boolean", short: "q", about: "no progress and no notes on stderr" },
  verbose: { type: "boolean", short: "v", about: "log requests to the hub on stderr" },
  "no-color": { type: "boolean", about: "no colors; same as NO_COLOR=1" },
  url: { type: "string", value: "url", about: "use a remote hub; same as PLUGBOARD_URL" },
  "token-file": {
    type: "string",
    value: "file",
    about: "file with the token of the remote hub; or set PLUGBOARD_TOKEN",
  },
  token: { type: "string", value: "token", about: "the token itself; other users of this machine can see it" },
  timeout: {
    type: "string",
    value: "duration",
    about: "how long to wait for an answer: 500ms, 30s, 10m",
  },
  "no-input": {
    type: "boolean",
    short: "y",
    about: "never prompt: answer yes to questions, fail if input is required",
  },
} as const satisfies OptionTable;

export const UP_OPTIONS = {
  port: { type: "string", value: "n", about: "port to listen on (default: listen.port of hub.json, or 7430)" },
  host: {
    type: "string",
    value: "address",
    about: "address to listen on (default: listen.host of hub.json, or 127.0.0.1)",
  },
  "insecure-http": { type: "boolean", about: "allow a public_url that is http, in a network that you trust" },
  drain: {
    type: "string",
    value: "time",
    about: "how long to wait for running calls when the hub stops",
    default: "10s",
  },
  "no-ui": { type: "boolean", about: "do not serve the web interface" },
  "no-fast-path": { type: "boolean", about: "read all requests with Node's HTTP server, which is slower" },
} as const satisfies OptionTable;

export const STDIO_OPTIONS = {
  group: { type: "string", value: "name", about: "the group to serve" },
  tools: {
    type: "string",
    value: "mode",
    about: "all tools, or tools that search them: all, search (default: as the group says)",
  },
  own: { type: "boolean", about: "run a separate hub, even if one is running" },
  header: {
    type: "string",
    multiple: true,
    value: "header",
    about: "with --url: a header for every request, 'Name: value'; repeatable",
  },
  "log-level": {
    type: "string",
    value: "level",
    about: "debug, info, warn, error or silent; same as PLUGBOARD_LOG_LEVEL",
  },
} as const satisfies OptionTable;

/** Adds them to a commander command. */
export function addOptions(command: Command, options: OptionTable, change: (option: Option) => Option = same): Command {
  for (const [name, { short, value, about, default: defaultValue, multiple }] of Object.entries(options)) {
    const flags = `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` <${value}>`}`;
    const option = command.createOption(flags, about).default(defaultValue);
    command.addOption(change(multiple === true ? option.argParser(collect) : option));
  }
  return command;
}

const same = (option: Option): Option => option;

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
