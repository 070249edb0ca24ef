// Errors of requests, by code. The messages of the first two are part of the interface.

export const CHAT_ERROR_CODES = [
  "SOURCE_NOT_FOUND",
  "CHAT_NOT_FOUND",
  "MESSAGE_NOT_FOUND",
  "ATTACHMENT_NOT_AVAILABLE",
  "AMBIGUOUS_CHAT",
  "SOURCE_NOT_CONNECTED",
  "INVALID_PARAMETER",
  "STREAMING_NOT_SUPPORTED",
  "SEND_NOT_ALLOWED",
  "RATE_LIMITED",
  "BUSY",
  "TIMEOUT",
  "IMPORT_FAILED",
  "STORE_UNUSABLE",
] as const;

export type ChatErrorCode = (typeof CHAT_ERROR_CODES)[number];

export interface ChatErrorDetails {
  /** The invalid parameter. */
  readonly field?: string;
  /** How to fix it. */
  readonly hint?: string;
  /** Values that the user may have meant. */
  readonly candidates?: readonly string[];
  readonly retry_after_s?: number;
}

export class ChatError extends Error {
  override readonly name = "ChatError";
  readonly code: ChatErrorCode;
  readonly details: ChatErrorDetails;

  constructor(code: ChatErrorCode, message: string, details: ChatErrorDetails = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
  }
}

export const sourceNotFound = (source: string, known: readonly string[]): ChatError =>
  new ChatError("SOURCE_NOT_FOUND", `Source '${source}' not found`, {
    field: "source",
    candidates: known,
    hint:
      known.length === 0
        ? "There is no source yet: `plugboard chat import FILE` reads an export, `plugboard chat add` adds a live one"
        : `Sources: ${known.join(", ")}`,
  });

/** `near` are similar names. */
export const chatNotFound = (chat: string, source: string | undefined, near: readonly string[]): ChatError =>
  new ChatError(
    "CHAT_NOT_FOUND",
    `Chat '${chat}' not found in ${source === undefined ? "any source" : `source '${source}'`}`,
    {
      field: "chat",
      ...(near.length === 0
        ? {}
        : { hint: `Did you mean ${near.map((name) => `'${name}'`).join(" or ")}?`, candidates: near }),
    },
  );

export const invalid = (field: string, message: string, hint?: string): ChatError =>
  new ChatError("INVALID_PARAMETER", message, hint === undefined ? { field } : { field, hint });

/** Joins parts as sentences that each end with one full stop. */
export const sentences = (...parts: readonly string[]): string =>
  parts.map((part) => (/[.!?]$/.test(part) ? part : `${part}.`)).join(" ");
