// Starting, stopping and switching servers, and looking at what they say. A start that fails is the command's failure.

import { HubError, toHubError } from "../../errors.ts";
import type { ManagedServer } from "../../servers/server.ts";
import type { Managed } from "../core.ts";
import { secretsOf } from "../entry/entry.ts";
import { redact } from "../entry/mask.ts";
import type { Logs, Server } from "../schemas/server.ts";
import { redactError } from "../view.ts";
import type { ServerCommands } from "./servers.ts";

export class LifecycleCommands {
  readonly #managed: Managed;
  readonly #servers: ServerCommands;

  constructor(managed: Managed, servers: ServerCommands) {
    this.#managed = managed;
    this.#servers = servers;
  }

  start(id: string): Promise<Server> {
    return this.#run(id, (server) => server.start());
  }

  stop(id: string): Promise<Server> {
    return this.#run(id, (server) => server.stop());
  }

  restart(id: string): Promise<Server> {
    return this.#run(id, async (server) => {
      if (server.status.state !== "disabled") await server.stop();
      await server.start();
    });
  }

  /** LC-8: kept only if it also starts. */
  enable(id: string): Promise<Server> {
    return this.#switch(id, true);
  }

  disable(id: string): Promise<Server> {
    return this.#switch(id, false);
  }

  logs(id: string, tail: number): Logs {
    const server = this.#find(id);
    const secrets = secretsOf(server.config);
    const lines = server.logs(tail).map(({ at, text }) => ({
      timestamp: new Date(at).toISOString(),
      text: redact(text, secrets),
    }));
    return { server: server.name, text: lines.map(({ text }) => text).join("\n"), lines };
  }

  async #switch(id: string, enabled: boolean): Promise<Server> {
    const server = this.#find(id);
    return this.#servers.show(
      await withoutSecrets(server, () => this.#managed.hub.configuration.setEnabled(server.name, enabled)),
    );
  }

  async #run(id: string, action: (server: ManagedServer) => Promise<void>): Promise<Server> {
    const server = this.#find(id);
    await withoutSecrets(server, () => action(server));
    return this.#servers.show(server);
  }

  #find(id: string): ManagedServer {
    return this.#managed.hub.supervisor.get(id);
  }
}

async function withoutSecrets<T>({ config }: ManagedServer, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (thrown) {
    const error = toHubError(thrown);
    const { kind, message, ...details } = redactError(error.toJSON(), secretsOf(config));
    throw new HubError(kind, message, { ...details, cause: error });
  }
}
