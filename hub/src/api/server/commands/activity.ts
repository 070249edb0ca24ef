// What happens at the moment: calls that are under way, and connected clients.

import { HubError } from "../../../errors.ts";
import type { ActiveCall } from "../../schemas/call.ts";
import type { Session } from "../../schemas/session.ts";
import type { Managed } from "../core.ts";
import { toSession } from "../session-view.ts";

export class ActivityCommands {
  readonly #managed: Managed;

  constructor(managed: Managed) {
    this.#managed = managed;
  }

  calls(): ActiveCall[] {
    return this.#managed.hub.calls.active.list().map(({ activeId, server, tool, group, client, session, at }) => ({
      id: activeId,
      server,
      tool,
      group,
      client: client ?? null,
      session: session ?? null,
      started_at: new Date(at).toISOString(),
    }));
  }

  /** The caller gets an error, and the server is told to stop. */
  cancelCall(id: string): void {
    if (this.#managed.hub.calls.active.cancel(id)) return;
    throw new HubError("CallNotFound", `There is no call ${id} under way`, {
      field: "id",
      hint: "GET /api/v1/calls/active lists them",
    });
  }

  sessions(): Session[] {
    const { sessions, calls } = this.#managed.hub;
    const active = calls.active.list();
    return sessions.list().map((client) => toSession(client, active));
  }

  endSession(id: string): void {
    const { sessions } = this.#managed.hub;
    if (sessions.end(id)) return;
    const known = sessions.list().some((client) => client.id === id);
    if (known) {
      throw new HubError("InvalidArgument", `Client ${id} has no session that could be ended`, { field: "id" });
    }
    throw new HubError("SessionNotFound", `There is no session ${id}`, {
      field: "id",
      hint: "GET /api/v1/sessions lists them",
    });
  }
}
