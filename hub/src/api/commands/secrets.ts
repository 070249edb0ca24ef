// Secrets: their names and who uses them. A value goes in and never comes out.

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

  async set(name: string, value: string): Promise<Secret> {
    await this.#managed.hub.secrets.set(name, value);
    return this.#view(name);
  }

  async delete(name: string): Promise<void> {
    if (await this.#managed.hub.secrets.delete(name)) return;
    const known = await this.#managed.hub.secrets.list();
    throw new HubError("SecretNotFound", `There is no secret "${name}"`, {
      field: "name",
      hint: `Secrets: ${known.join(", ") || "none"}`,
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

  /** A server takes a new value when it starts. */
  #view(name: string): Secret {
    const { servers } = this.#managed.hub.configuration.current;
    const users = servers.filter(({ env }) => Object.values(env).some(({ secretRef }) => secretRef === name));
    return { name, used_by: users.map((server) => server.name) };
  }
}
