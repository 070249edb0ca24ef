// A failure as MCP has it: a tool's is a result that the model reads, everything else is an error of JSON-RPC.

import { ProtocolError, type CallToolResult } from "@modelcontextprotocol/server";
import { z } from "zod";
import { firstIssue } from "../config/file.ts";
import { ChatError, invalid, type ChatErrorCode } from "../errors.ts";
import type { Outgoing } from "../outgoing.ts";

export const RESOURCE_NOT_FOUND = -32_002;
const INVALID_PARAMS = -32_602;
const INTERNAL_ERROR = -32_603;
const SERVER_ERROR = -32_000;

const CODES: Readonly<Record<ChatErrorCode, number>> = {
  SOURCE_NOT_FOUND: RESOURCE_NOT_FOUND,
  CHAT_NOT_FOUND: RESOURCE_NOT_FOUND,
  MESSAGE_NOT_FOUND: RESOURCE_NOT_FOUND,
  AMBIGUOUS_CHAT: INVALID_PARAMS,
  SOURCE_NOT_CONNECTED: SERVER_ERROR,
  INVALID_PARAMETER: INVALID_PARAMS,
  STREAMING_NOT_SUPPORTED: INVALID_PARAMS,
  SEND_NOT_ALLOWED: SERVER_ERROR,
  RATE_LIMITED: SERVER_ERROR,
  BUSY: SERVER_ERROR,
  TIMEOUT: SERVER_ERROR,
  IMPORT_FAILED: SERVER_ERROR,
  STORE_UNUSABLE: SERVER_ERROR,
};

/** Whether an error that leaves means that a resource is not there: its number differs between the eras. */
export function meansNotFound(data: unknown): boolean {
  if (typeof data !== "object" || data === null || !("code" in data)) return false;
  return Object.entries(CODES).some(([code, number]) => code === data.code && number === RESOURCE_NOT_FOUND);
}

/** Undefined for what nobody expected: a bug, or a broken disk. */
export function toChatError(thrown: unknown): ChatError | undefined {
  if (thrown instanceof ChatError) return thrown;
  if (!(thrown instanceof z.ZodError)) return undefined;
  const { field, message } = firstIssue(thrown);
  return invalid(field, `'${field}': ${message}`);
}

export function toToolResult(error: ChatError, outgoing: Outgoing): CallToolResult {
  const json = outgoing.error(error);
  const candidates =
    json.candidates === undefined || json.candidates.length === 0 ? "" : ` Candidates: ${json.candidates.join("; ")}.`;
  const hint = json.hint === undefined || json.message.includes(json.hint) ? "" : ` ${json.hint}.`;
  return {
    isError: true,
    content: [{ type: "text", text: `${json.code}: ${json.message}.${hint}${candidates}`.replaceAll("..", ".") }],
    structuredContent: { error: { ...json } },
  };
}

export function toProtocolError(thrown: unknown, outgoing: Outgoing, log: (line: string) => void): ProtocolError {
  if (thrown instanceof ProtocolError) return thrown;
  const error = toChatError(thrown);
  if (error === undefined) return internalError(thrown, log);
  const json = outgoing.error(error);
  return new ProtocolError(CODES[error.code], json.message, json);
}

/** What happened is for the user's eyes, on stderr, and not for the client. */
export function internalError(thrown: unknown, log: (line: string) => void): ProtocolError {
  log(`error: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}`);
  return new ProtocolError(INTERNAL_ERROR, "Internal error");
}
