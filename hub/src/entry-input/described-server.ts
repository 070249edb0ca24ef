// A server as some text describes it, before its entry is translated into the hub's spelling.

import { CLIENTS } from "../client-configs/client-table.ts";
import type { Client } from "../client-configs/client.ts";

export interface DescribedServer {
  readonly name: string;
  readonly entry: unknown;
  /** The client in whose spelling the entry is; undefined: the hub's own. */
  readonly client: Client | undefined;
  /** What a value is for, by the name that references use. */
  readonly descriptions?: ReadonlyMap<string, string>;
}

export type TextFormat = "command" | "address" | "package" | "json" | "toml" | "yaml" | "link" | "client command";

export interface DescribedServers {
  readonly format: TextFormat;
  readonly servers: readonly DescribedServer[];
}

/** The client with this id, which must be in the table. */
export function clientOf(id: string): Client | undefined {
  return CLIENTS.find((client) => client.id === id);
}
