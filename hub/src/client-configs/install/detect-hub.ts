// Detects entries of client files that are this hub. An import must skip them, and an install may replace them.

import type { Client } from "../client.ts";
import { readForeign, type ForeignServer } from "../import/foreign.ts";

const BIN = /(?:^|[\\/])plugboard(?:\.js|\.cmd|\.exe)?(?:@[\w.^~+-]+)?$/;
const DEFAULT_PORT = "7430";
/** Both forms of a group's path. */
const PATH = /^\/(?:mcp(?:\/|$)|groups\/[^/]+\/mcp\/?$)/;
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** `address` is the address of the running hub. */
export function isThisHub(server: ForeignServer, address?: string): boolean {
  const { command, args, url } = server;
  if (url !== undefined) return isHubUrl(url, address);
  const words = [command ?? "", ...args];
  const at = words.findIndex((word) => BIN.test(word));
  // With --url it is a bridge to another server.
  return at >= 0 && words[at + 1] === "stdio" && !words.some((word) => /^--url(?:=|$)/.test(word));
}

export function isHubEntry(entry: unknown, client: Client, address?: string): boolean {
  if (typeof entry !== "object" || entry === null) return false;
  const server = readForeign(entry, client);
  return server !== undefined && isThisHub(server, address);
}

function isHubUrl(text: string, address: string | undefined): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !PATH.test(url.pathname) || !LOOPBACK.test(url.hostname)) return false;
  return url.port === DEFAULT_PORT || (address !== undefined && url.port === new URL(address).port);
}
