// Interprets an answer of an authorization server's endpoint: a result, a refusal, or a failure without a decision.

import type { JsonObject } from "../lib/json/json.ts";
import { retryAfter } from "../lib/retry-after.ts";
import { parseObject } from "./parse-object.ts";
import { shownText } from "./text.ts";

export type ServerAnswer =
  | { readonly type: "ok"; readonly body: JsonObject }
  | { readonly type: "refused"; readonly status: number; readonly code: string; readonly description?: string }
  /** Neither: an error of the server or of something in front of it. */
  | { readonly type: "failed"; readonly status: number; readonly isEmpty: boolean; readonly retryAfterMs?: number };

/** Error codes that are about the moment and not about the request. */
const MOMENTARY: ReadonlySet<string> = new Set(["server_error", "temporarily_unavailable"]);
const MAX_CODE = 64;
/** Codes of GitHub and Slack, mapped to those of RFC 6749. */
const STANDARD_CODES: ReadonlyMap<string, string> = new Map([
  ["bad_refresh_token", "invalid_grant"],
  ["bad_verification_code", "invalid_grant"],
  ["invalid_refresh_token", "invalid_grant"],
  ["invalid_code", "invalid_grant"],
  ["incorrect_client_credentials", "invalid_client"],
  ["bad_client_secret", "invalid_client"],
  ["invalid_client_id", "invalid_client"],
]);

/** `secrets`: what the request contained and must not be quoted. */
export async function readAnswer(response: Response, secrets: readonly string[] = []): Promise<ServerAnswer> {
  const { status } = response;
  const text = await response.text();
  const body = parseObject(text);
  // Some servers answer errors with status 200.
  const code = shownText(body?.["error"], { secrets, max: MAX_CODE });
  const isFailure = status >= 500 || status === 429 || status === 408 || (code !== undefined && MOMENTARY.has(code));
  if (code !== undefined && !isFailure) {
    const standard = STANDARD_CODES.get(code) ?? code;
    const said = [standard === code ? undefined : code, shownText(body?.["error_description"], { secrets })];
    const description = said.filter((part) => part !== undefined).join(": ");
    return { type: "refused", status, code: standard, ...(description === "" ? {} : { description }) };
  }
  if (body !== undefined && status >= 200 && status < 300 && !isFailure) return { type: "ok", body };
  const retryAfterMs = retryAfter(response.headers.get("retry-after"));
  return { type: "failed", status, isEmpty: text === "", ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}
