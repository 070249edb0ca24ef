// The short forms of a server entry in a program: an address, or a command line.

import { splitWords } from "../lib/shell-words.ts";
import type { JsonObject } from "../lib/json/json.ts";

/** An entry as in mcp_server.json, an address, or a command line: `"uvx mcp-server-time"`. */
export type ServerInput = JsonObject | string | URL;

/** @example toEntry("https://docs.example/mcp") // { url: "https://docs.example/mcp" } */
export function toEntry(server: ServerInput): JsonObject {
  if (isAddress(server)) return { url: String(server) };
  if (typeof server !== "string") return server;
  const [command = "", ...args] = splitWords(server);
  return { command, args };
}

/** True for a URL of HTTP or WebSocket. */
export function isAddress(server: unknown): server is string | URL {
  return server instanceof URL || (typeof server === "string" && /^(?:https?|wss?):\/\//i.test(server));
}
