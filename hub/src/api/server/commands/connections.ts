// What each person has at the servers that need something of them: a login of their own, and personal secrets.

import type { Rights } from "../../../auth/policy.ts";
import { isPersonalName } from "../../../config/parse/expand.ts";
import { personalSecretsOf } from "../../../config/parse/per-user.ts";
import { HubError } from "../../../errors.ts";
import type { Connections, PersonalSecret } from "../../schemas/connection.ts";
import type { Login } from "../../schemas/login.ts";
import type { Core, Managed } from "../core.ts";
import { loginOf } from "./logins.ts";
import { actingFor, mayReach } from "./on-behalf.ts";

export class ConnectionCommands {
  readonly #hub: Core;

  constructor({ hub }: Pick<Managed, "hub">) {
    this.#hub = hub;
  }

  async show(rights: Rights, whose?: string): Promise<Connections> {
    const principal = await actingFor(this.#hub, rights, whose);
    const servers = this.#hub.supervisor.servers.filter(({ name }) => mayReach(this.#hub, rights, name));
    const logins: Login[] = [];
    for (const { config } of servers) {
      if (config.auth?.per !== "user") continue;
      const login = await loginOf(this.#hub, config, principal);
      logins.push(login ?? { server: config.name, principal, state: "none", by: "person" });
    }
    return { principal, logins, secrets: await this.#secretsOf(principal, rights) };
  }

  async setSecret(rights: Rights, name: string, value: string, whose?: string): Promise<PersonalSecret> {
    const principal = await actingFor(this.#hub, rights, whose);
    if (!isPersonalName(name)) {
      throw new HubError("InvalidArgument", `"${name}" cannot be the name of a personal secret`, {
        field: "name",
        hint: "Use letters, digits and _: an entry refers to it by ${user:NAME}",
      });
    }
    await this.#hub.personalSecrets.set(principal, name, value);
    this.#changed(principal, name);
    return this.#find(principal, name, rights);
  }

  async deleteSecret(rights: Rights, name: string, whose?: string): Promise<void> {
    const principal = await actingFor(this.#hub, rights, whose);
    if (!(await this.#hub.personalSecrets.delete(principal, name))) {
      throw new HubError("SecretNotFound", `There is no personal secret "${name}"`, { field: "name" });
    }
    this.#changed(principal, name);
  }

  async #find(principal: string, name: string, rights: Rights): Promise<PersonalSecret> {
    const found = (await this.#secretsOf(principal, rights)).find((secret) => secret.name === name);
    return found ?? { principal, name, set_at: null, is_set: false, used_by: [] };
  }

  /** Those that are stored, and those that servers need. */
  async #secretsOf(principal: string, rights: Rights): Promise<PersonalSecret[]> {
    const stored = (await this.#hub.personalSecrets.list()).filter((secret) => secret.principal === principal);
    const uses = this.#hub.supervisor.servers
      .filter(({ name, config }) => config.invalid === undefined && mayReach(this.#hub, rights, name))
      .map(({ name, config }) => ({ server: name, names: personalSecretsOf(config) }));
    const names = new Set([...stored.map(({ name }) => name), ...uses.flatMap((use) => use.names)]);
    return [...names].toSorted().map((name) => {
      const known = stored.find((secret) => secret.name === name);
      return {
        principal,
        name,
        set_at: known?.setAt === undefined ? null : new Date(known.setAt).toISOString(),
        is_set: known !== undefined,
        used_by: uses.filter((use) => use.names.includes(name)).map(({ server }) => server),
      };
    });
  }

  /** What was opened with the old value ends; a server that could not list its tools without one may be able to now. */
  #changed(principal: string, name: string): void {
    const { supervisor, events } = this.#hub;
    for (const server of supervisor.servers) {
      if (!personalSecretsOf(server.config).includes(name)) continue;
      supervisor.endInstancesOf(principal, server.name);
      server.credentialsChanged();
    }
    events.emit("secret.changed", { name });
  }
}
