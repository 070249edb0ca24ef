// What the hub's events are to those who watch it from outside: small, in snake_case, without parameters or secrets.

import type { Catalog } from "../../catalog/catalog.ts";
import type { CallRecord, ServerLine } from "../../events.ts";
import type { Status } from "../../servers/status.ts";
import type { Core } from "../core.ts";
import { errorOf } from "../view.ts";
import type { EventLog } from "./event-log.ts";

/** Writes everything that happens in the hub from now on into the log. */
export function collect({ events }: Pick<Core, "events">, log: EventLog): void {
  const starts = new Starts();
  events.on("server.status", ({ server, status }) =>
    log.append("server.status", server, {
      server,
      status: status.state,
      stage: status.state === "starting" ? status.stage : null,
      elapsed_ms: starts.elapsed(server, status),
      since: "since" in status ? new Date(status.since).toISOString() : null,
      tool_count: status.state === "running" ? status.tools.length : 0,
      error: errorOf(status),
    }),
  );
  events.on("server.circuit", ({ server, breaker }) =>
    log.append("server.circuit", server, { server, circuit: breaker.state }),
  );
  events.on("server.tools", ({ server, changes }) => log.append("server.tools", server, { server, changed: changes }));
  events.on("server.log", (line) => log.appendLazily("server.log", line.server, line, describeLine));
  events.on("call.finished", (call) => log.appendLazily("call.finished", call.server, call, describeCall));
  events.on("catalog.changed", ({ catalog }) =>
    log.append("catalog.changed", undefined, { groups: countsOf(catalog) }),
  );
  events.on("config.reloaded", ({ changes, description }) =>
    log.append("config.reloaded", undefined, {
      added: changes.added.map(({ name }) => name),
      removed: changes.removed,
      restarted: changes.restarted.map(({ name }) => name),
      changed: changes.described.map(({ name }) => name),
      groups: changes.groups,
      description,
    }),
  );
  events.on("config.rejected", ({ error }) => log.append("config.rejected", undefined, { error }));
  events.on("warning", ({ message, server }) =>
    log.append("warning", server, { ...(server === undefined ? {} : { server }), message }),
  );
}

function describeLine({ server, at, text }: ServerLine): object {
  return { server, timestamp: new Date(at).toISOString(), text };
}

function describeCall({ server, tool, group, durationMs, outcome, error }: CallRecord): object {
  const duration_ms = Math.round(durationMs * 1000) / 1000;
  return { server, tool, group, success: outcome === "ok", outcome, duration_ms, error: error ?? null };
}

/** How long servers have been starting, or took to start: the status alone forgets when it began, and has no clock for it. */
class Starts {
  readonly #began = new Map<string, number>();

  elapsed(server: string, status: Status): number | null {
    const now = performance.now();
    const isStarting = status.state === "starting";
    if (isStarting && status.stage === "resolving") this.#began.set(server, now);
    const began = this.#began.get(server);
    if (began === undefined) return null;
    if (!isStarting) this.#began.delete(server);
    return Math.round(now - began);
  }
}

function countsOf(catalog: Catalog): object[] {
  return catalog.groupNames.map((name) => {
    const { tools, prompts, resources } = catalog.group(name);
    return { name, tool_count: tools.length, prompt_count: prompts.length, resource_count: resources.length };
  });
}
