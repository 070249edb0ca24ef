// Connected clients in the shape of the API.

import type { RunningCall } from "../../events.ts";
import type { ConnectedClient } from "../../live/sessions.ts";
import type { Session } from "../schemas/session.ts";

/** @param active all calls that are under way */
export function toSession(client: ConnectedClient, active: readonly RunningCall[]): Session {
  const { id, clientInfo, transport, group, version, since, lastCallAt, calls, subscriptions } = client;
  const name = clientInfo?.["name"];
  const itsVersion = clientInfo?.["version"];
  return {
    id,
    client: typeof name === "string" ? { name, version: typeof itsVersion === "string" ? itsVersion : "" } : null,
    transport,
    group,
    protocol_version: version,
    since: new Date(since).toISOString(),
    last_call_at: lastCallAt === undefined ? null : new Date(lastCallAt).toISOString(),
    calls,
    in_flight: active.filter(({ session }) => session === id).length,
    subscriptions,
  };
}
