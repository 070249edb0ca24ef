// Converts events of the hub for clients: small, in snake_case, without parameters or secrets.

import type { Catalog } from "../../../catalog/catalog.ts";
import type { CallRecord, RunningCall, ServerLine } from "../../../events.ts";
import { errorOf, type Status } from "../../../servers/status.ts";
import type { CallFinished, CallStarted, ServerLogged } from "../../schemas/event.ts";
import type { Core } from "../core.ts";
import { toLogLine } from "../log-view.ts";
import { toSession } from "../session-view.ts";
import type { EventLog } from "./event-log.ts";

/** Appends all further events of the hub to the log. */
export function collect({ events, calls }: Pick<Core, "events" | "calls">, log: EventLog): void {
  const startTimes = new StartTimes();
  events.on("server.status", ({ server, status }) =>
    log.append("server.status", server, {
      server,
      status: status.state,
      stage: status.state === "starting" ? status.stage : null,
      elapsed_ms: startTimes.elapsed(server, status),
      since: "since" in status ? new Date(status.since).toISOString() : null,
      tool_count: status.state === "running" ? status.tools.length : 0,
      error: errorOf(status),
    }),
  );
  events.on("server.circuit", ({ server, breaker }) =>
    log.append("server.circuit", server, { server, circuit: breaker.state }),
  );
  events.on("server.tools", ({ server, changes }) => log.append("server.tools", server, { server, changed: changes }));
  events.on("server.approved", ({ server, by, tools = null }) =>
    log.append("server.approved", server, { server, by, tools }),
  );
  events.on("server.log", (line) => log.appendLazily("server.log", line.server, line, describeLine));
  events.on("call.started", (call) => log.send("call.started", call.server, call, describeStart));
  events.on("session.opened", (client) =>
    log.append("session.opened", undefined, { session: toSession(client, calls.active.list()) }),
  );
  events.on("session.closed", ({ id }) => log.append("session.closed", undefined, { id }));
  events.on("call.finished", (call) => log.appendLazily("call.finished", call.server, call, describeCall));
  events.on("approval.pending", ({ id, call, expiresAt }) =>
    log.append("approval.pending", call.server, {
      id,
      server: call.server,
      tool: call.name,
      group: call.group,
      client: call.client ?? null,
      expires_at: new Date(expiresAt).toISOString(),
    }),
  );
  events.on("approval.ended", ({ id }) => log.append("approval.ended", undefined, { id }));
  events.on("login", ({ server, what, view }) => log.append(`login.${what}`, server, view));
  events.on("catalog.changed", ({ catalog }) =>
    log.append("catalog.changed", undefined, { groups: countsOf(catalog) }),
  );
  events.on("secret.changed", ({ name }) => log.append("secret.changed", undefined, { name }));
  events.on("config.reloaded", ({ changes, description, requestId = null }) => {
    log.append("config.reloaded", undefined, {
      added: changes.added.map(({ name }) => name),
      removed: changes.removed,
      restarted: changes.restarted.map(({ name }) => name),
      changed: changes.updated.map(({ name }) => name),
      groups: changes.groups,
      description,
      request_id: requestId,
    });
    const { added, changed, removed } = changes.groupChanges;
    const groups = [...added, ...changed, ...removed];
    if (groups.length > 0) log.append("group.changed", undefined, { groups });
  });
  events.on("config.rejected", ({ error }) => log.append("config.rejected", undefined, { error }));
  events.on("warning", ({ message, server }) =>
    log.append("warning", server, { ...(server === undefined ? {} : { server }), message }),
  );
}

function describeLine(line: ServerLine): ServerLogged {
  return { server: line.server, ...toLogLine(line) };
}

function describeStart({ activeId, server, tool, group, client, session, at }: RunningCall): CallStarted {
  return {
    id: activeId,
    server,
    tool,
    group,
    client: client ?? null,
    session: session ?? null,
    at: new Date(at).toISOString(),
  };
}

function describeCall(call: CallRecord): CallFinished {
  const { number, server, tool, group, client, session, durationMs, outcome, message, error } = call;
  return {
    id: number === undefined ? null : String(number),
    server,
    tool,
    group,
    client: client ?? null,
    session: session ?? null,
    success: outcome === "ok",
    outcome,
    duration_ms: Math.round(durationMs * 1000) / 1000,
    message: message ?? null,
    error: error ?? null,
  };
}

/** When servers began to start: a status has only the time of its own stage, on the wall clock. */
class StartTimes {
  readonly #startedAt = new Map<string, number>();

  elapsed(server: string, status: Status): number | null {
    const now = performance.now();
    const isStarting = status.state === "starting";
    if (isStarting && status.stage === "resolving") this.#startedAt.set(server, now);
    const startedAt = this.#startedAt.get(server);
    if (startedAt === undefined) return null;
    if (!isStarting) this.#startedAt.delete(server);
    return Math.round(now - startedAt);
  }
}

function countsOf(catalog: Catalog): object[] {
  return catalog.groupNames.map((name) => {
    const { tools, prompts, resources } = catalog.group(name);
    return { name, tool_count: tools.length, prompt_count: prompts.length, resource_count: resources.length };
  });
}
