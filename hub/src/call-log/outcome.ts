// How a call ended, and why: one definition for the log, the statistics, the metrics and the API.

import { ERRORS, type ErrorCode, type ErrorKind, type HubError } from "../errors.ts";
import { isObject } from "../lib/json/json.ts";
import { RPC, type Reply } from "../protocol/rpc/jsonrpc.ts";

/**
 * `ok`: the tool gave a result. `tool_error`: the tool ran and reports a failure (`isError`). `failed`: no usable answer, such
 * as a JSON-RPC error, a timeout or a lost connection. `cancelled`: by the caller. `refused`: before the tool ran, because of
 * wrong arguments, an unknown or disabled target, a limit, or a person who does not approve it.
 */
export const OUTCOMES = ["ok", "tool_error", "failed", "cancelled", "refused"] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface Verdict {
  readonly outcome: Outcome;
  /** Absent if the outcome is `ok`. */
  readonly code?: ErrorCode;
}

const OK: Verdict = { outcome: "ok" };
const TOOL_ERROR: Verdict = { outcome: "tool_error", code: ERRORS.ToolFailed.code };
const FAILED: Verdict = { outcome: "failed", code: ERRORS.ToolFailed.code };
const INVALID: Verdict = { outcome: "refused", code: ERRORS.InvalidArgument.code };

/** The verdict on a server's reply. */
export function verdictOfReply(reply: Reply): Verdict {
  if (reply.ok) return isObject(reply.result.value) && reply.result.value["isError"] === true ? TOOL_ERROR : OK;
  const { value } = reply.error;
  return isObject(value) && value["code"] === RPC.invalidParams ? INVALID : FAILED;
}

/** The verdict on a call without a reply. `isAbandoned`: the caller has cancelled, which takes precedence over any other error. */
export function verdictOfError({ kind, code }: HubError, isAbandoned = false): Verdict {
  if (isAbandoned || kind === "Cancelled") return { outcome: "cancelled", code: ERRORS.Cancelled.code };
  return { outcome: REFUSALS.has(kind) ? "refused" : "failed", code };
}

/** Whether the call reached its server. Only those calls count in error rates and percentiles. */
export function isServersOwn(outcome: Outcome): boolean {
  return outcome === "ok" || outcome === "tool_error" || outcome === "failed";
}

/** Reads an outcome from a file, which may be damaged. */
export function toOutcome(value: unknown): Outcome {
  return OUTCOMES.find((outcome) => outcome === value) ?? "failed";
}

/** Errors that stop a call before it reaches a server. */
const REFUSALS: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  "InvalidArgument",
  "InvalidConfig",
  "SerializationError",
  "ServerNotFound",
  "ToolNotFound",
  "GroupNotFound",
  "ServerDisabled",
  "ClientRefused",
  "NotApproved",
  "PayloadTooLarge",
  "RateLimited",
  "Overloaded",
  "CircuitOpen",
]);

/** Why a call is not ok: the message of an error, or the text that a tool returned. Null if the result has neither. */
export function reasonIn(result: unknown): string | null {
  if (!isObject(result)) return null;
  const { content, message } = result;
  if (typeof message === "string") return message;
  const blocks: unknown[] = Array.isArray(content) ? content : [];
  const texts = blocks.flatMap((block) =>
    isObject(block) && typeof block["text"] === "string" ? [block["text"]] : [],
  );
  return texts.join("\n") || null;
}
