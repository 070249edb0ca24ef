// Starting, stopping and switching servers, and looking at what they say. A start that fails is the command's failure.

import type { ManagedServer } from "../../servers/server.ts";
import type { Managed } from "../core.ts";
import type { Logs, PackageUpdate, Server } from "../schemas/server.ts";
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

  /** Its package as it is today. */
  async update(id: string, signal: AbortSignal): Promise<PackageUpdate> {
    const { from = null, to, restarted } = await this.#managed.hub.supervisor.updatePackage(id, signal);
    const server = await this.#servers.get(id);
    return { changed: from !== to, from, to, restarted: [...restarted], server };
  }

  logs(id: string, tail: number): Logs {
    const server = this.#find(id);
    const lines = server.logs(tail).map(({ at, text }) => ({
      timestamp: new Date(at).toISOString(),
      text,
    }));
    return { server: server.name, text: lines.map(({ text }) => text).join("\n"), lines };
  }

  async #switch(id: string, enabled: boolean): Promise<Server> {
    const server = this.#find(id);
    return this.#servers.show(await this.#managed.hub.configuration.setEnabled(server.name, enabled));
  }

  async #run(id: string, action: (server: ManagedServer) => Promise<void>): Promise<Server> {
    const server = this.#find(id);
    await action(server);
    return this.#servers.show(server);
  }

  #find(id: string): ManagedServer {
    return this.#managed.hub.supervisor.get(id);
  }
}
