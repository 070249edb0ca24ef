// Which servers are chat servers: by what they say that they are, not by the name that they have in the config.

import type { Server } from "$api/server.ts";

const CHAT_SERVER = "plugboard-chat";

type Known = Pick<Server, "server_info">;

/** Running ones first, then by name. */
export function chatServers<S extends Known & Pick<Server, "config" | "status">>(servers: readonly S[]): S[] {
  const rank = ({ status }: S) => (status === "running" ? 0 : 1);
  return servers
    .filter(isChatServer)
    .toSorted((a, b) => rank(a) - rank(b) || a.config.name.localeCompare(b.config.name));
}

function isChatServer({ server_info: info }: Known): boolean {
  return info?.name === CHAT_SERVER;
}
