// The error for a server that is not running, with its reason and fix.

import type { Server } from "../../api/schemas/server.ts";
import { HubError } from "../../errors.ts";
import { describe } from "../terminal/progress.ts";

export function requireEnabled({ config: { name }, status }: Server): void {
  if (status !== "disabled") return;
  throw new HubError("ServerDisabled", `Server "${name}" is disabled`, { hint: `plugboard enable ${name}` });
}

export function notRunning(
  { config: { name }, status, error }: Pick<Server, "config" | "status" | "error">,
  thrown?: HubError,
): HubError {
  const why = error === null ? thrown?.detail : describe({ status, error });
  return new HubError("ServerNotRunning", thrown?.message ?? "Server unavailable", {
    ...(why === undefined ? { detail: `Server "${name}" is ${status}` } : { detail: why }),
    hint: status === "stopped" ? `plugboard start ${name}` : `plugboard get ${name}`,
    ...(thrown === undefined ? {} : { cause: thrown }),
  });
}
