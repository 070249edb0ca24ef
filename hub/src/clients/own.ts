// Whether an entry of a client's file is this hub itself: imported, it would call itself; in the place of our own entry,
// it may be replaced.

import type { Client } from "./client.ts";
import { readForeign, type ForeignServer } from "./foreign.ts";

const BIN = /(?:^|[\\/])plugboard(?:\.js|\.cmd|\.exe)?(?:@[\w.^~+-]+)?$/;
const DEFAULT_PORT = "7430";
/** Of a group: both forms. */
const PATH = /^\/(?:mcp(?:\/|$)|groups\/[^/]+\/mcp\/?$)/;
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** `address`: that of the running hub. */
export function isOwn(server: ForeignServer, address?: string): boolean {
  const { command, args, url } = server;
  if (url !== undefined) return isOwnUrl(url, address);
  const words = [command ?? "", ...args];
  const at = words.findIndex((word) => BIN.test(word));
  // With an address of its own it is the bridge to another server.
  return at >= 0 && words[at + 1] === "stdio" && !words.some((word) => /^--url(?:=|$)/.test(word));
}

export function isOwnEntry(entry: unknown, client: Client, address?: string): boolean {
  if (typeof entry !== "object" || entry === null) return false;
  const server = readForeign(entry, client);
  return server !== undefined && isOwn(server, address);
}

function isOwnUrl(text: string, address: string | undefined): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !PATH.test(url.pathname) || !LOOPBACK.test(url.hostname)) return false;
  return url.port === DEFAULT_PORT || (address !== undefined && url.port === new URL(address).port);
}
