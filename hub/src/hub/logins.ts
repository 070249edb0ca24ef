// The hub's logins at remote servers: connects them to the config, the secrets, the servers and the events.

import type { LookupFunction } from "node:net";
import type { HubEvents } from "../events.ts";
import { HubError } from "../errors.ts";
import type { LoginStore } from "../secrets/login-store.ts";
import type { PersonalSecrets } from "../secrets/personal.ts";
import type { SecretStore } from "../secrets/store.ts";
import { SYSTEM_CLOCK } from "../servers/login/clock.ts";
import { Logins } from "../servers/login/logins.ts";
import { resolveAuth } from "../servers/login/resolve-auth.ts";
import { resolveServer } from "../servers/process/resolve.ts";
import type { Redactor } from "../servers/server-redaction.ts";
import type { Supervisor } from "../servers/supervisor.ts";

export interface HubLoginsOptions {
  readonly store: LoginStore;
  readonly secrets: SecretStore;
  readonly personalSecrets: PersonalSecrets;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** The base of relative paths. */
  readonly configFolder: string | undefined;
  readonly redactor: Redactor;
  readonly lookup: LookupFunction | undefined;
  readonly events: HubEvents;
  readonly supervisor: () => Supervisor;
}

export function createLogins(options: HubLoginsOptions): Logins {
  const { store, secrets, personalSecrets, variables, configFolder, redactor, lookup, events, supervisor } = options;
  const sources = { variables, secrets, personalSecrets, ...(configFolder === undefined ? {} : { configFolder }) };
  return new Logins({
    store,
    clock: SYSTEM_CLOCK,
    lookup,
    setSecrets: (owner, values) => redactor.setSecrets(owner, values),
    resolveAuth: (config, principal) => resolveAuth(config, { ...sources, principal }),
    urlOf: async (config, principal) => {
      const { transport } = await resolveServer(config, { ...sources, principal });
      if (transport.type !== "stdio" && URL.canParse(transport.url)) return new URL(transport.url);
      throw new HubError("InvalidConfig", `The url of "${config.name}" is not an address`, { field: "url" });
    },
    connect: async (server) => {
      await supervisor()
        .get(server)
        .start()
        .catch(() => undefined);
    },
    onEnded: (server, principal) => supervisor().endInstancesOf(principal, server),
    onEvent: (event) => events.emit("login", event),
    onCompleted: (server) => {
      if (supervisor().has(server)) supervisor().get(server).loggedIn();
    },
  });
}
