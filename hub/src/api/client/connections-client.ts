// The part of the client about what a person has at servers that need something of each person.

import type { Connections, PersonalSecret } from "../schemas/connection.ts";
import type { Connection } from "./connection.ts";

/** Another principal than the caller, which needs the role admin. */
export interface Whose {
  readonly for?: string | undefined;
}

export class ConnectionsClient {
  readonly #hub: Connection;

  constructor(hub: Connection) {
    this.#hub = hub;
  }

  get(whose: Whose = {}): Promise<Connections> {
    return this.#hub.request("/connections", { query: { ...whose } });
  }

  setSecret(name: string, value: string, whose: Whose = {}): Promise<PersonalSecret> {
    return this.#hub.request(secret(name), { method: "PUT", body: { value }, query: { ...whose } });
  }

  deleteSecret(name: string, whose: Whose = {}): Promise<void> {
    return this.#hub.request(secret(name), { method: "DELETE", query: { ...whose } });
  }
}

const secret = (name: string) => `/connections/secrets/${encodeURIComponent(name)}`;
