// The options that are read in two ways: by commander, and by entry.ts for commands that must not wait for it. In the form
// of `parseArgs`, with what the help says besides.

import type { Command, Option } from "commander";

interface OptionRow {
  readonly type: "string" | "boolean";
  readonly short?: string;
  readonly multiple?: boolean;
  readonly default?: string;
  /** What the help calls its value. */
  readonly value?: string;
  readonly about: string;
}

type OptionTable = Readonly<Record<string, OptionRow>>;

/** Those of every command. */
export const GLOBAL_OPTIONS = {
  config: { type: "string", value: "dir", about: "folder of mcp_server.json and group.json" },
  json: { type: "boolean", about: "machine-readable output" },
  quiet: { type: "boolean", short: "q", about: "no progress and no notes" },
  verbose: { type: "boolean", short: "v", about: "say which hub is asked, and what; on stderr" },
  "no-color": { type: "boolean", about: "no colours, as NO_COLOR=1" },
  url: { type: "string", value: "url", about: "a hub elsewhere, as PLUGBOARD_URL" },
  "token-file": {
    type: "string",
    value: "file",
    about: "file with the token of that hub; PLUGBOARD_TOKEN is the token itself",
  },
  token: { type: "string", value: "token", about: "the token itself, which other users of this machine can see" },
  timeout: {
    type: "string",
    value: "duration",
    about: "how long a command may wait for an answer: 500ms, 30s, 10m",
  },
  "no-input": {
    type: "boolean",
    short: "y",
    about: "ask nothing: yes to every question; what must be typed is an error",
  },
} as const satisfies OptionTable;

export const UP_OPTIONS = {
  port: { type: "string", value: "n", about: "port to listen on", default: "7430" },
  host: { type: "string", value: "address", about: "loopback address to listen on", default: "127.0.0.1" },
  drain: {
    type: "string",
    value: "time",
    about: "how long calls may still take when the hub is told to stop",
    default: "10s",
  },
} as const satisfies OptionTable;

export const STDIO_OPTIONS = {
  group: { type: "string", value: "name", about: "the group to serve" },
  own: { type: "boolean", about: "be a hub of its own, even where one is running" },
  header: {
    type: "string",
    multiple: true,
    value: "header",
    about: "with --url: sent with every request, as 'Name: value'; can be repeated",
  },
  "log-level": {
    type: "string",
    value: "level",
    about: "debug, info, warn, error or silent, as PLUGBOARD_LOG_LEVEL",
  },
} as const satisfies OptionTable;

/** Tells commander of them. */
export function addOptions(command: Command, options: OptionTable, change: (option: Option) => Option = same): Command {
  for (const [name, { short, value, about, default: usual, multiple }] of Object.entries(options)) {
    const flags = `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` <${value}>`}`;
    const option = command.createOption(flags, about).default(usual);
    command.addOption(change(multiple === true ? option.argParser(collect) : option));
  }
  return command;
}

const same = (option: Option): Option => option;

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
