// Maps errors to MCP: a failed tool call is a result for the model, everything else is a JSON-RPC error.

import {
  isJSONRPCErrorResponse,
  ProtocolError,
  type CallToolResult,
  type JSONRPCMessage,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { firstIssue } from "../config/file.ts";
import { ChatError, invalid, sentences, type ChatErrorCode } from "../errors.ts";
import type { Presenter } from "../access/presenter.ts";

const RESOURCE_NOT_FOUND = -32_002;
export const INVALID_PARAMS = -32_602;
const INTERNAL_ERROR = -32_603;
const SERVER_ERROR = -32_000;

const CODES: Readonly<Record<ChatErrorCode, number>> = {
  SOURCE_NOT_FOUND: RESOURCE_NOT_FOUND,
  CHAT_NOT_FOUND: RESOURCE_NOT_FOUND,
  MESSAGE_NOT_FOUND: RESOURCE_NOT_FOUND,
  ATTACHMENT_NOT_AVAILABLE: SERVER_ERROR,
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

/** Whether the error data means "not found", whose JSON-RPC code differs between the protocol eras. */
export function meansNotFound(data: unknown): boolean {
  if (typeof data !== "object" || data === null || !("code" in data)) return false;
  return Object.entries(CODES).some(([code, number]) => code === data.code && number === RESOURCE_NOT_FOUND);
}

/** Undefined for an unexpected error: a bug, or a broken disk. */
export function toChatError(thrown: unknown): ChatError | undefined {
  if (thrown instanceof ChatError) return thrown;
  if (!(thrown instanceof z.ZodError)) return undefined;
  const { field, message } = firstIssue(thrown);
  return invalid(field, `'${field}': ${message}`);
}

export function toToolResult(error: ChatError, presenter: Presenter): CallToolResult {
  const json = presenter.error(error);
  const { code, message, hint, candidates = [] } = json;
  const text = sentences(
    `${code}: ${message}`,
    ...(hint === undefined ? [] : [hint]),
    ...(candidates.length === 0 || hintNamesCandidates(error) ? [] : [`Candidates: ${candidates.join("; ")}`]),
  );
  return { isError: true, content: [{ type: "text", text }], structuredContent: { error: { ...json } } };
}

/** The hint of SOURCE_NOT_FOUND already lists the candidates. */
export function hintNamesCandidates({ code }: ChatError): boolean {
  return code === "SOURCE_NOT_FOUND";
}

/** Revisions before 2026-07-28 have their own code for a missing resource; the SDK sends the new code to all clients. */
export function withLegacyCode(message: JSONRPCMessage): JSONRPCMessage {
  if (!isJSONRPCErrorResponse(message) || !meansNotFound(message.error.data)) return message;
  return { ...message, error: { ...message.error, code: RESOURCE_NOT_FOUND } };
}

export function toProtocolError(thrown: unknown, presenter: Presenter, log: (line: string) => void): ProtocolError {
  if (thrown instanceof ProtocolError) return thrown;
  const error = toChatError(thrown);
  if (error === undefined) return internalError(thrown, log);
  const json = presenter.error(error);
  return new ProtocolError(CODES[error.code], json.message, json);
}

/** Logs the cause for the user; the client learns no details. */
export function internalError(thrown: unknown, log: (line: string) => void): ProtocolError {
  log(`error: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}`);
  return new ProtocolError(INTERNAL_ERROR, "Internal error");
}
