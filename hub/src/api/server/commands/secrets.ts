// Secrets: their names and the servers that use them. Values are never returned.

import { secretRefsOf } from "../../../config/parse/secret-refs.ts";
import type { ServerConfig } from "../../../config/schema/types.ts";
import { didYouMean } from "@plugboard/shared/near-names";
import { HubError } from "../../../errors.ts";
import { isWaitingForCredentials } from "../../../servers/status.ts";
import type { Managed } from "../core.ts";
import type { KeyRotation, MissingSecret, Secret } from "../../schemas/config.ts";

export class SecretCommands {
  readonly #managed: Managed;

  constructor(managed: Managed) {
    this.#managed = managed;
  }

  async list(): Promise<Secret[]> {
    const { secrets } = this.#managed.hub;
    const times = await secrets.times?.();
    return (await secrets.list()).map((name) => this.#view(name, times));
  }

  /** The secrets that servers refer to and the store lacks. */
  async missing(): Promise<MissingSecret[]> {
    const stored = new Set(await this.#managed.hub.secrets.list());
    return this.#managed.hub.configuration.current.servers.flatMap((server) =>
      Object.entries(secretRefsOf(server))
        .filter(([, name]) => !stored.has(name))
        .map(([variable, name]) => ({ name, server: server.name, variable })),
    );
  }

  async set(name: string, value: string, { unlessDifferent = false } = {}): Promise<Secret> {
    if (unlessDifferent) {
      const stored = await this.#managed.hub.secrets.get(name);
      if (stored === value) return { ...this.#view(name, await this.#managed.hub.secrets.times?.()), starting: [] };
      if (stored !== undefined) {
        throw new HubError("Conflict", `The secret "${name}" is stored with another value`, {
          field: "name",
          hint: "Store this value under another name",
        });
      }
    }
    await this.#managed.hub.secrets.set(name, value);
    this.#managed.hub.events.emit("secret.changed", { name });
    const times = await this.#managed.hub.secrets.times?.();
    return { ...this.#view(name, times), starting: this.#startWaiting(name) };
  }

  /** A secret in use is deleted only with `force`: its servers would fail at their next start. */
  async delete(name: string, { force = false }: { force?: boolean | undefined } = {}): Promise<void> {
    const used_by = [...new Set(this.#usesOf(name).map(({ server }) => server))];
    if (!force && used_by.length > 0 && (await this.#managed.hub.secrets.list()).includes(name)) {
      throw new HubError("SecretInUse", `The secret "${name}" is used by ${used_by.join(", ")}`, {
        field: "name",
        hint: `plugboard secret rm ${name} --force`,
      });
    }
    if (await this.#managed.hub.secrets.delete(name)) {
      this.#managed.hub.events.emit("secret.changed", { name });
      return;
    }
    const known = await this.#managed.hub.secrets.list();
    throw new HubError("SecretNotFound", `There is no secret "${name}"`, {
      field: "name",
      hint: didYouMean(name, known, "Secrets"),
    });
  }

  async rotateKey(): Promise<KeyRotation> {
    const { secrets } = this.#managed.hub;
    if (secrets.rotateKey === undefined) {
      throw new HubError("InvalidArgument", "This hub has no encryption key: its secrets are stored elsewhere", {
        hint: "Rotate the key where they are stored",
      });
    }
    return { rotated: await secrets.rotateKey() };
  }

  /** Starts servers that failed because the secret was missing, in the background. Returns their names. */
  #startWaiting(name: string): string[] {
    const waiting = this.#managed.hub.supervisor.servers.filter(
      ({ status, config }) => isWaitingForCredentials(status) && usesSecret(config, name),
    );
    for (const server of waiting) void server.start().catch(() => undefined);
    return waiting.map((server) => server.name);
  }

  #view(name: string, times: ReadonlyMap<string, number> | undefined): Secret {
    const uses = this.#usesOf(name);
    const at = times?.get(name);
    return {
      name,
      used_by: [...new Set(uses.map(({ server }) => server))],
      uses,
      set_at: at === undefined ? null : new Date(at).toISOString(),
    };
  }

  #usesOf(secret: string): Secret["uses"] {
    return this.#managed.hub.configuration.current.servers.flatMap((server) =>
      Object.entries(secretRefsOf(server))
        .filter(([, name]) => name === secret)
        .map(([variable]) => ({ server: server.name, variable })),
    );
  }
}

function usesSecret(server: ServerConfig, name: string): boolean {
  return Object.values(secretRefsOf(server)).includes(name);
}
