// The transport of a remote server: url, headers and protocol.

import { HubError } from "../../errors.ts";
import type { ServerEntry } from "../schema/schema.ts";
import type { RemoteTransport } from "../schema/types.ts";

type Kind = RemoteTransport["type"];

/** All spellings of transport types that clients use. */
const KINDS: Readonly<Partial<Record<string, Kind | "stdio">>> = {
  stdio: "stdio",
  local: "stdio",
  http: "http",
  remote: "http",
  "streamable-http": "http",
  streamablehttp: "http",
  streamable_http: "http",
  sse: "sse",
  ws: "websocket",
  websocket: "websocket",
};

/** The remote transport of an entry, or undefined if it has no url. `field` is the field that has the url. */
export function toRemote(entry: ServerEntry, field?: string): RemoteTransport | undefined {
  const kind = declaredKind(entry);
  const { transport } = entry;
  const parts = typeof transport === "object" ? (transport?.Http ?? transport) : undefined;
  const url = parts?.url ?? entry.url ?? undefined;
  if (url === undefined) {
    if (kind === undefined || kind === "stdio" || entry.package || entry.command === "http") return undefined;
    throw new HubError("InvalidConfig", "Transport required", { field: "url", hint: `A ${kind} server needs a url` });
  }
  const where = field ?? (parts?.url === undefined ? "url" : "transport.url");
  if (kind === "stdio")
    throw new HubError("InvalidConfig", "A stdio server has a command, not a url", { field: where });
  return { type: toRemoteKind(kind, url, where), url, headers: { ...entry.headers, ...parts?.headers } };
}

/** The type that the entry declares in `transport`, else in `type`. */
export function declaredKind({ transport, type }: ServerEntry): Kind | "stdio" | undefined {
  if (typeof transport === "string") return toKind(transport, "transport");
  if (transport?.Http) return "http";
  if (transport?.type !== undefined) return toKind(transport.type, "transport.type");
  return type ? toKind(type, "type") : undefined;
}

function toKind(text: string, field: string): Kind | "stdio" {
  const kind = Object.hasOwn(KINDS, text.toLowerCase()) ? KINDS[text.toLowerCase()] : undefined;
  if (kind !== undefined) return kind;
  throw new HubError("InvalidConfig", "Transport type must be stdio, http, sse or websocket", { field });
}

function toRemoteKind(kind: Kind | undefined, url: string, field: string): Kind {
  const scheme = requireUrl(url, field);
  if (scheme === "ws:" || scheme === "wss:") return "websocket";
  if (kind === "websocket" && scheme !== undefined) {
    throw new HubError("InvalidConfig", "A WebSocket server needs a ws:// or wss:// url", { field });
  }
  return kind ?? "http";
}

/**
 * Checks a url and returns its scheme. A url with `${NAME}` is checked after expansion, when the server starts.
 *
 * @example requireUrl("wss://example.com/mcp", "url") // "wss:"
 */
function requireUrl(url: string, field: string): string | undefined {
  if (url.includes("${")) return /^wss?:(?=\/\/)/i.exec(url)?.[0].toLowerCase() ?? undefined;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed !== undefined && /^(https?|wss?):$/.test(parsed.protocol)) return parsed.protocol;
  throw new HubError("InvalidConfig", "The url must begin with http://, https://, ws:// or wss://", { field });
}
