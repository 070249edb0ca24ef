// One call, from any edge: finds the server, asks it, and tells the hub how it went. The place where a call's ordered
// steps stand (policy, breaker, retry come here), so that no edge has its own idea of them.

import { toHubError, type HubError } from "../errors.ts";
import type { HubEvents } from "../events.ts";
import type { Supervisor } from "../servers/supervisor.ts";
import type { Ask } from "../servers/upstream.ts";
import { isObject } from "../wire/json.ts";
import type { Reply } from "../wire/jsonrpc.ts";

export interface ToolCall extends Ask {
  readonly group: string;
  readonly server: string;
  /** The name that the server knows. */
  readonly name: string;
}

export class Calls {
  readonly #supervisor: Supervisor;
  readonly #events: HubEvents;

  constructor({ supervisor, events }: { supervisor: Supervisor; events: HubEvents }) {
    this.#supervisor = supervisor;
    this.#events = events;
  }

  /** Calls a tool. The server's answer comes back unchanged, its errors included; a HubError is the hub's own failure. */
  async tool(call: ToolCall): Promise<Reply> {
    const startedAt = performance.now();
    try {
      const reply = await this.#supervisor.get(call.server).ask(call);
      this.#finished(call, startedAt, { ok: succeeded(reply) });
      return reply;
    } catch (thrown) {
      const error = toHubError(thrown);
      this.#finished(call, startedAt, { ok: false, error });
      throw error;
    }
  }

  /** Any other question to a server: a prompt, a resource, a completion. */
  ask(server: string, ask: Ask): Promise<Reply> {
    return this.#supervisor.get(server).ask(ask);
  }

  #finished({ group, server, name }: ToolCall, startedAt: number, outcome: { ok: boolean; error?: HubError }): void {
    this.#events.emit("call.finished", {
      server,
      tool: name,
      group,
      durationMs: performance.now() - startedAt,
      ok: outcome.ok,
      ...(outcome.error === undefined ? {} : { error: outcome.error.toJSON() }),
    });
  }
}

function succeeded(reply: Reply): boolean {
  return reply.ok && !(isObject(reply.result.value) && reply.result.value["isError"] === true);
}
