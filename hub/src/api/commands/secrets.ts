// Secrets: their names and who uses them. A value goes in and never comes out.

import type { ServerConfig } from "../../config/types.ts";
import { didYouMean } from "../../did-you-mean.ts";
import { HubError } from "../../errors.ts";
import type { Status } from "../../servers/status.ts";
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
    return { ...this.#view(name), starting: this.#startWaiting(name) };
  }

  /** One that servers use is deleted only with `force`: they would fail at their next start, long after. */
  async delete(name: string, { force = false }: { force?: boolean | undefined } = {}): Promise<void> {
    const { used_by } = this.#view(name);
    if (!force && used_by.length > 0 && (await this.#managed.hub.secrets.list()).includes(name)) {
      throw new HubError("SecretInUse", `The secret "${name}" is used by ${used_by.join(", ")}`, {
        field: "name",
        hint: `plugboard secret rm ${name} --force`,
      });
    }
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

  /** Servers that did not start, or were not let in, for want of it are started; gives their names. How that goes is in their status. */
  #startWaiting(name: string): string[] {
    const waiting = this.#managed.hub.supervisor.servers.filter(
      ({ status, config }) => isWaiting(status) && usesSecret(config, name),
    );
    for (const server of waiting) void server.start().catch(() => undefined);
    return waiting.map((server) => server.name);
  }

  /** A server takes a new value when it starts. */
  #view(name: string): Secret {
    const { servers } = this.#managed.hub.configuration.current;
    return { name, used_by: servers.filter((server) => usesSecret(server, name)).map((server) => server.name) };
  }
}

function isWaiting(status: Status): boolean {
  return status.state === "unauthenticated" || (status.state === "error" && status.error.kind === "InvalidConfig");
}

function usesSecret({ env }: ServerConfig, name: string): boolean {
  return Object.values(env).some(({ secretRef }) => secretRef === name);
}
