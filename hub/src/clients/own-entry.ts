// The hub as a server in a client's file, in that client's words: a program to launch, or an address.

import type { JsonObject } from "../config/plain.ts";
import type { Client, Shape } from "./client.ts";

/** What clients know the hub as. */
export const OWN_NAME = "plugboard";

export type OwnServer =
  | { readonly command: string; readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }
  | { readonly url: string };

type Program = Extract<OwnServer, { command: string }>;

interface Words {
  readonly program: (program: Program) => JsonObject;
  readonly address: (url: string) => JsonObject;
}

const GOOSE_SECONDS = 300;

const program = ({ command, args, env }: Program): JsonObject => ({
  command,
  args: [...args],
  ...(Object.keys(env).length === 0 ? {} : { env: { ...env } }),
});

const WORDS: Readonly<Record<Shape, Words>> = {
  plain: { program, address: (url) => ({ url }) },
  typed: {
    program: (own) => ({ type: "stdio", ...program(own) }),
    address: (url) => ({ type: "http", url }),
  },
  // Older ones want to know that it is nobody's extension.
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
      name: OWN_NAME,
      type: "stdio",
      enabled: true,
      cmd: command,
      args: [...args],
      envs: { ...env },
      timeout: GOOSE_SECONDS,
    }),
    address: (url) => ({ name: OWN_NAME, type: "streamable_http", enabled: true, uri: url, timeout: GOOSE_SECONDS }),
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

export function toOwnEntry(own: OwnServer, { shape }: Client): JsonObject {
  return "url" in own ? WORDS[shape].address(own.url) : WORDS[shape].program(own);
}
