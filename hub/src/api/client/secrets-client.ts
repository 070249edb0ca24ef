// The part of the client about stored secrets.

import type { KeyRotation, MissingSecret, Secret } from "../schemas/config.ts";
import type { Connection } from "./connection.ts";

export class SecretsClient {
  readonly #hub: Connection;

  constructor(hub: Connection) {
    this.#hub = hub;
  }

  /** Names, and the servers that use them. */
  list(): Promise<Secret[]> {
    return this.#hub.request("/secrets");
  }

  /** Secrets that servers refer to and the store lacks. */
  listMissing(): Promise<MissingSecret[]> {
    return this.#hub.request("/secrets/missing");
  }

  /** `unlessDifferent`: fails if the secret is stored with another value. */
  set(name: string, value: string, { unlessDifferent = false } = {}): Promise<Secret> {
    const body = unlessDifferent ? { value, unless_different: true } : { value };
    return this.#hub.request(secret(name), { method: "PUT", body });
  }

  /** A secret in use needs `force`. */
  delete(name: string, { force }: { readonly force?: boolean | undefined } = {}): Promise<void> {
    return this.#hub.request(secret(name), { method: "DELETE", query: { force } });
  }

  /** Encrypts all secrets with a new key. */
  rotateKey(): Promise<KeyRotation> {
    return this.#hub.request("/secrets/rotate-key", { method: "POST" });
  }
}

const secret = (name: string) => `/secrets/${encodeURIComponent(name)}`;
