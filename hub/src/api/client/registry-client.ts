// The part of the client about registries.

import type { RegistryAdd, RegistryAdded, RegistrySearch, RegistryServer, RegistryView } from "../schemas/registry.ts";
import type { Connection } from "./connection.ts";

export interface RegistryQuery {
  readonly query: string;
  readonly registry?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

export class RegistryClient {
  readonly #hub: Connection;

  constructor(hub: Connection) {
    this.#hub = hub;
  }

  list(): Promise<RegistryView[]> {
    return this.#hub.request("/registries");
  }

  search({ query, ...rest }: RegistryQuery): Promise<RegistrySearch> {
    return this.#hub.request("/registry/servers", { query: { q: query, ...rest } });
  }

  /** What would be run, and what it needs. Default: the newest version in the first registry that has it. */
  get(
    name: string,
    query: { readonly registry?: string | undefined; readonly version?: string | undefined } = {},
  ): Promise<RegistryServer> {
    return this.#hub.request(`/registry/servers/${encodeURIComponent(name)}`, { query });
  }

  /** Secret values go to the secret store. */
  add(body: RegistryAdd): Promise<RegistryAdded> {
    return this.#hub.request("/registry/servers", { method: "POST", body });
  }
}
