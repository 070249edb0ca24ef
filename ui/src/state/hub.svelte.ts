// The hub itself: version, paths, warnings, and whether its config files are accepted.

import type { HubStatus } from "$api/status.ts";
import { api } from "../lib/hub/api.ts";
import { Resource } from "./resource.svelte.ts";

export const hub = new Resource((signal) => api.get<HubStatus>("/status", { signal }), {
  events: ["config.reloaded", "config.rejected", "warning"],
});
