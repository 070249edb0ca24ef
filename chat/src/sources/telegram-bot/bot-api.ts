// Calls to the Bot API. The URL contains the token, so URLs and foreign error texts never leave this file.

import type { z } from "zod";
import { SourceFailure, type FailureKind } from "../failure.ts";
import { requestJson } from "../http.ts";
import { wire } from "./wire.ts";
import { trimEnd } from "@plugboard/shared/trim";

export interface BotApiOptions {
  /** Self-hosted Bot API server. */
  readonly apiRoot?: string;
  readonly token: () => Promise<string>;
}

export class BotApiRefusal extends SourceFailure {
  readonly code: number;

  constructor(code: number, message: string, retryAfterMs?: number) {
    super(kindOf(code), message, retryAfterMs);
    this.code = code;
  }
}

export class BotApi {
  readonly #root: string;
  readonly #token: () => Promise<string>;

  constructor({ apiRoot = "https://api.telegram.org", token }: BotApiOptions) {
    this.#root = trimEnd(apiRoot, "/");
    this.#token = token;
  }

  async call<T extends z.ZodType>(
    method: string,
    params: Readonly<Record<string, unknown>>,
    { result, timeoutMs, signal }: { result: T; timeoutMs: number; signal: AbortSignal },
  ): Promise<z.infer<T>> {
    const token = await this.#token();
    if (!TOKEN.test(token)) throw new BotApiRefusal(401, "Invalid bot token");
    const { status, body } = await requestJson(`${this.#root}/bot${token}/${method}`, {
      method: "POST",
      body: params,
      timeoutMs,
      signal,
    });
    const answer = wire.answer.safeParse(body);
    if (!answer.success) throw new BotApiRefusal(status, `Telegram answered ${method} with HTTP status ${status}`);
    if (!answer.data.ok) {
      const { error_code: code, description, parameters } = answer.data;
      const retryAfterMs = parameters?.retry_after === undefined ? undefined : parameters.retry_after * 1000;
      throw new BotApiRefusal(code, `Telegram refused ${method}: ${withoutToken(description, token)}`, retryAfterMs);
    }
    const parsed = result.safeParse(answer.data.result);
    if (!parsed.success) throw new BotApiRefusal(502, `Telegram answered ${method} in an unknown format`);
    return parsed.data;
  }
}

/** It is inserted into the URL unescaped. */
const TOKEN = /^[\w:-]+$/;

function kindOf(code: number): FailureKind {
  // Telegram answers a malformed token with 404.
  if (code === 401 || code === 404) return "unauthorized";
  if (code === 409) return "conflict";
  if (code === 429) return "rate_limited";
  return code >= 500 || code < 400 ? "unreachable" : "refused";
}

function withoutToken(text: string, token: string): string {
  return text.replaceAll(token, "***");
}
