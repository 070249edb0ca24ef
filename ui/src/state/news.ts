// Events that a person should hear of on whatever page: failures of servers, and changes of the config by others.

import { api } from "../lib/hub/api.ts";
import type { StatusEvent } from "../lib/servers/merge.ts";
import { news as text } from "../text/shell.ts";
import { announcer } from "./announce.svelte.ts";
import { live } from "./live.svelte.ts";
import { toasts } from "./toasts.svelte.ts";

interface ConfigReloaded {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly restarted: readonly string[];
  readonly changed: readonly string[];
  readonly groups: boolean;
  readonly description: string;
  readonly request_id?: string | null;
}

export function followNews(): () => void {
  const offs = [
    live.on<StatusEvent>("server.status", ({ server, status, error }) => {
      if (status === "error" || status === "disconnected") announcer.say(text.failed(server, error?.message ?? status));
      else if (status === "unauthenticated") announcer.say(text.needsLogin(server));
    }),
    live.on<ConfigReloaded>("config.reloaded", (event) => {
      const { description, request_id: requestId } = event;
      const isOwn = typeof requestId === "string" && api.sent(requestId);
      if (!isOwn && hasChanges(event)) toasts.show(text.configChanged(description));
    }),
  ];
  return () => {
    for (const off of offs) off();
  };
}

/** A file that was read again without changes is no news. */
function hasChanges({ added, removed, restarted, changed, groups }: ConfigReloaded): boolean {
  return groups || [added, removed, restarted, changed].some(({ length }) => length > 0);
}
