// How a call ended, in one word: decided here for the log, the statistics, the metrics and the API alike.

import { ERRORS, type ErrorCode, type ErrorKind, type HubError } from "../errors.ts";
import { isObject } from "../wire/json.ts";
import { RPC, type Reply } from "../wire/jsonrpc.ts";

/**
 * `ok`: the tool gave a result. `tool_error`: the tool ran and says that it failed (`isError`). `failed`: no usable answer
 * came: a JSON-RPC error, a timeout, a lost connection, a server that is down. `cancelled`: the caller left. `refused`: it was
 * turned away before the tool ran: wrong arguments, an unknown or disabled target, a limit.
 */
export const OUTCOMES = ["ok", "tool_error", "failed", "cancelled", "refused"] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface Verdict {
  readonly outcome: Outcome;
  /** S0's code; none where the call is ok. */
  readonly code?: ErrorCode;
}

const OK: Verdict = { outcome: "ok" };
const TOOL_ERROR: Verdict = { outcome: "tool_error", code: ERRORS.ToolFailed.code };
const FAILED: Verdict = { outcome: "failed", code: ERRORS.ToolFailed.code };
const INVALID: Verdict = { outcome: "refused", code: ERRORS.InvalidConfig.code };

/** By what a server answered. */
export function verdictOfReply(reply: Reply): Verdict {
  if (reply.ok) return isObject(reply.result.value) && reply.result.value["isError"] === true ? TOOL_ERROR : OK;
  const { value } = reply.error;
  return isObject(value) && value["code"] === RPC.invalidParams ? INVALID : FAILED;
}

/** By why the hub has no answer. `isAbandoned`: the caller no longer waits, whatever else went wrong. */
export function verdictOfError({ kind, code }: HubError, isAbandoned = false): Verdict {
  if (isAbandoned || kind === "Cancelled") return { outcome: "cancelled", code: ERRORS.Cancelled.code };
  return { outcome: REFUSALS.has(kind) ? "refused" : "failed", code };
}

/** Whether a call says something about its server: only those count in error rates and percentiles. */
export function isServersOwn(outcome: Outcome): boolean {
  return outcome === "ok" || outcome === "tool_error" || outcome === "failed";
}

/** As it stands in a file, which may be damaged. */
export function toOutcome(value: unknown): Outcome {
  return OUTCOMES.find((outcome) => outcome === value) ?? "failed";
}

/** What is turned away before it reaches a server. */
const REFUSALS: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  "InvalidConfig",
  "SerializationError",
  "ServerNotFound",
  "ToolNotFound",
  "GroupNotFound",
  "ServerDisabled",
  "ClientRefused",
  "PayloadTooLarge",
  "RateLimited",
  "Overloaded",
  "CircuitOpen",
]);
