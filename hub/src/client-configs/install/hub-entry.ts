// The hub's entry in a client's file, in the client's spelling: a program to launch, or a url.

import type { JsonObject } from "../../config/parse/plain-object.ts";
import type { Client, Shape } from "../client.ts";

/** The name of the hub's entry in client files. */
export const HUB_NAME = "plugboard";

export type HubLaunch =
  | { readonly command: string; readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }
  | { readonly url: string };

type Program = Extract<HubLaunch, { command: string }>;

interface EntryWriter {
  readonly program: (program: Program) => JsonObject;
  readonly address: (url: string) => JsonObject;
}

const GOOSE_SECONDS = 300;

const program = ({ command, args, env }: Program): JsonObject => ({
  command,
  args: [...args],
  ...(Object.keys(env).length === 0 ? {} : { env: { ...env } }),
});

const WRITERS: Readonly<Record<Shape, EntryWriter>> = {
  plain: { program, address: (url) => ({ url }) },
  typed: {
    program: (own) => ({ type: "stdio", ...program(own) }),
    address: (url) => ({ type: "http", url }),
  },
  // Older versions of Zed need `source` for a server that is no extension.
  zed: { program: (own) => ({ source: "custom", ...program(own) }), address: (url) => ({ url }) },
  windsurf: { program, address: (url) => ({ serverUrl: url }) },
  gemini: { program, address: (url) => ({ url, type: "http" }) },
  codex: { program, address: (url) => ({ url }) },
  continue: {
    program: (own) => ({ type: "stdio", ...program(own) }),
    address: (url) => ({ type: "streamable-http", url }),
  },
  cline: { program, address: (url) => ({ type: "streamableHttp", url }) },
  goose: {
    program: ({ command, args, env }) => ({
      name: HUB_NAME,
      type: "stdio",
      enabled: true,
      cmd: command,
      args: [...args],
      envs: { ...env },
      timeout: GOOSE_SECONDS,
    }),
    address: (url) => ({ name: HUB_NAME, type: "streamable_http", enabled: true, uri: url, timeout: GOOSE_SECONDS }),
  },
  opencode: {
    program: ({ command, args, env }) => ({
      type: "local",
      command: [command, ...args],
      ...(Object.keys(env).length === 0 ? {} : { environment: { ...env } }),
      enabled: true,
    }),
    address: (url) => ({ type: "remote", url, enabled: true }),
  },
  copilot: {
    program: (own) => ({ type: "local", ...program(own), tools: ["*"] }),
    address: (url) => ({ type: "http", url, tools: ["*"] }),
  },
};

export function toHubEntry(own: HubLaunch, { shape }: Client): JsonObject {
  return "url" in own ? WRITERS[shape].address(own.url) : WRITERS[shape].program(own);
}
