// Fails calls at once while the circuit breaker of their server is open, and reports to it how calls ended.

import { toHubError, type HubError } from "../../errors.ts";
import type { Supervisor } from "../../servers/supervisor.ts";
import type { Call, Step } from "../call.ts";

export function breaker(supervisor: Pick<Supervisor, "answering">): Step {
  return async (call, next) => {
    call.target = supervisor.answering(call.server);
    call.target.circuit.admit();
    call.lastError = undefined;
    try {
      const reply = await next(call);
      call.target.circuit.succeeded();
      return reply;
    } catch (thrown) {
      if (countsAgainst(call.lastError ?? toHubError(thrown), call)) call.target.circuit.failed();
      throw thrown;
    }
  };
}

/** Failures that are unrelated to the server's health: cancellation, limits of the hub, a start in progress. */
const NOT_ITS_FAULT: ReadonlySet<string> = new Set(["Cancelled", "CircuitOpen", "Overloaded", "ServerStarting"]);

/** Whether a failure counts against the server's health. */
export function countsAgainst(
  { code, kind, delivery }: HubError,
  { request, target }: { request: Pick<Call["request"], "timeoutMs">; target: Pick<Call["target"], "requestMs"> },
): boolean {
  if (NOT_ITS_FAULT.has(kind) || delivery === "rejected" || delivery === "withheld") return false;
  // A caller with a short timeout must not open the breaker for callers with the full timeout.
  const isCallersLimit = request.timeoutMs !== undefined && request.timeoutMs < target.requestMs();
  if (kind === "Timeout" && isCallersLimit) return false;
  return code === "NETWORK_ERROR" || code === "SERVICE_UNAVAILABLE";
}
