// Starts, stops, enables and disables servers, and reads their logs. A failed start fails the command.

import type { EditOptions } from "../../../config/files/config-store.ts";
import { renderToolDiff, type ToolDifference } from "../../../catalog/tool-diff.ts";
import type { RenewTo } from "../../../servers/npm/packages.ts";
import type { LogFilter } from "../../../servers/server-log.ts";
import type { ManagedServer } from "../../../servers/server.ts";
import type { Managed } from "../core.ts";
import type { Logs, PackageUpdate, Server, UpdatePreview } from "../../schemas/server.ts";
import { toLogLine } from "../log-view.ts";
import { following, type Progress } from "../progress.ts";
import type { ServerCommands } from "./servers.ts";

export interface LogsQuery extends LogFilter {
  readonly tail: number;
  /** Milliseconds since the epoch, exclusive. */
  readonly before?: number | undefined;
  /** Inclusive. */
  readonly since?: number | undefined;
}

export class LifecycleCommands {
  readonly #managed: Managed;
  readonly #servers: ServerCommands;

  constructor(managed: Managed, servers: ServerCommands) {
    this.#managed = managed;
    this.#servers = servers;
  }

  /** A client that disconnects while it follows the progress cancels the start. */
  start(id: string, progress?: Progress): Promise<Server> {
    return this.#run(
      id,
      async (server) => {
        const cancel = () => void (server.status.state === "starting" && server.stop());
        progress?.signal.addEventListener("abort", cancel, { once: true });
        try {
          await server.start();
        } finally {
          progress?.signal.removeEventListener("abort", cancel);
        }
      },
      progress,
    );
  }

  stop(id: string): Promise<Server> {
    return this.#run(id, (server) => server.stop());
  }

  /** Goes on without its client: a server that was running must not be left stopped. */
  restart(id: string, progress?: Progress): Promise<Server> {
    return this.#run(
      id,
      async (server) => {
        if (server.status.state !== "disabled") await server.stop();
        await server.start();
      },
      progress,
    );
  }

  /** Saved only if the server starts. */
  enable(id: string, options?: EditOptions): Promise<Server> {
    return this.#setEnabled(id, true, options);
  }

  disable(id: string, options?: EditOptions): Promise<Server> {
    return this.#setEnabled(id, false, options);
  }

  /** Installs the current version of its package. */
  update(id: string, signal: AbortSignal, progress?: Progress): Promise<PackageUpdate> {
    return this.#renew(id, "newest", signal, progress);
  }

  /** Goes back to the version of its package before the last update. */
  rollBack(id: string, signal: AbortSignal, progress?: Progress): Promise<PackageUpdate> {
    return this.#renew(id, "previous", signal, progress);
  }

  /** What an update would change in the tools. Installs and starts the new version aside, and leaves nothing of it. */
  async previewUpdate(id: string, signal: AbortSignal): Promise<UpdatePreview> {
    const { from = null, to, differences } = await this.#managed.hub.supervisor.previewUpdate(id, signal);
    const named = (change: ToolDifference["change"]) =>
      differences.filter((each) => each.change === change).map(({ tool }) => tool);
    const tools = { added: named("added"), changed: named("changed"), removed: named("removed") };
    return { changed: from !== to, from, to, tools, diff: renderToolDiff(differences) };
  }

  async #renew(id: string, version: RenewTo, signal: AbortSignal, progress?: Progress): Promise<PackageUpdate> {
    const { supervisor, events } = this.#managed.hub;
    const run = () => supervisor.updatePackage(id, progress?.signal ?? signal, version);
    const { from = null, to, restarted } = await following(events, supervisor.get(id).name, progress, run);
    const server = await this.#servers.get(id);
    return { changed: from !== to, from, to, restarted: [...restarted], server };
  }

  /** The last lines, of those that were written in a time. */
  logs(id: string, { tail, before = Infinity, since = 0, ...filter }: LogsQuery): Logs {
    const server = this.#find(id);
    const all = server.logs(Number.MAX_SAFE_INTEGER, filter).filter(({ at }) => at >= since && at < before);
    const lines = all.slice(-tail).map(toLogLine);
    return { server: server.name, text: lines.map(({ text }) => text).join("\n"), lines };
  }

  async #setEnabled(id: string, enabled: boolean, options: EditOptions | undefined): Promise<Server> {
    const server = this.#find(id);
    return this.#servers.show(await this.#managed.hub.configuration.setEnabled(server.name, enabled, options));
  }

  async #run(id: string, action: (server: ManagedServer) => Promise<void>, progress?: Progress): Promise<Server> {
    const server = this.#find(id);
    await following(this.#managed.hub.events, server.name, progress, () => action(server));
    return this.#servers.show(server);
  }

  #find(id: string): ManagedServer {
    return this.#managed.hub.supervisor.get(id);
  }
}
