// Secrets: their names and who uses them. A value goes in and never comes out.

import type { ServerConfig } from "../../config/types.ts";
import { didYouMean } from "../../did-you-mean.ts";
import { HubError } from "../../errors.ts";
import type { Managed } from "../core.ts";
import type { KeyRotation, Secret } from "../schemas/config.ts";

export class SecretCommands {
  readonly #managed: Managed;

  constructor(managed: Managed) {
    this.#managed = managed;
  }

  async list(): Promise<Secret[]> {
    return (await this.#managed.hub.secrets.list()).map((name) => this.#view(name));
  }

  async set(name: string, value: string, { unlessDifferent = false } = {}): Promise<Secret> {
    if (unlessDifferent) {
      const stored = await this.#managed.hub.secrets.get(name);
      if (stored !== undefined && stored !== value) {
        throw new HubError("StaleConfig", `The secret "${name}" has another value, which stays`, {
          field: "name",
          hint: "Store this value under another name",
        });
      }
    }
    await this.#managed.hub.secrets.set(name, value);
    this.#letIn(name);
    return this.#view(name);
  }

  async delete(name: string): Promise<void> {
    if (await this.#managed.hub.secrets.delete(name)) return;
    const known = await this.#managed.hub.secrets.list();
    throw new HubError("SecretNotFound", `There is no secret "${name}"`, {
      field: "name",
      hint: didYouMean(name, known, "Secrets"),
    });
  }

  async rotateKey(): Promise<KeyRotation> {
    const { secrets } = this.#managed.hub;
    if (secrets.rotateKey === undefined) {
      throw new HubError("InvalidConfig", "This hub has no key of its secrets: they are kept elsewhere", {
        hint: "Change the key where they are kept",
      });
    }
    return { rotated: await secrets.rotateKey() };
  }

  /** Servers that were not let in for want of it are tried again. How that goes is in their status. */
  #letIn(name: string): void {
    for (const server of this.#managed.hub.supervisor.servers) {
      const isWaiting = server.status.state === "unauthenticated" && usesSecret(server.config, name);
      if (isWaiting) void server.start().catch(() => undefined);
    }
  }

  /** A server takes a new value when it starts. */
  #view(name: string): Secret {
    const { servers } = this.#managed.hub.configuration.current;
    return { name, used_by: servers.filter((server) => usesSecret(server, name)).map((server) => server.name) };
  }
}

function usesSecret({ env }: ServerConfig, name: string): boolean {
  return Object.values(env).some(({ secretRef }) => secretRef === name);
}
