// Calls to a Matrix homeserver. The access token never appears in a URL or error.

import type { z } from "zod";
import { SourceFailure, type FailureKind } from "../failure.ts";
import { requestJson } from "../http.ts";
import { wire } from "./wire.ts";
import { trimEnd } from "@plugboard/shared/trim";

const CALL_MS = 60_000;

/** An error response of the homeserver; `errcode` is Matrix's own. */
export class MatrixRefusal extends SourceFailure {
  readonly status: number;
  readonly errcode: string;

  constructor(status: number, errcode: string, message: string, retryAfterMs?: number) {
    super(kindOf(status, errcode), message, retryAfterMs);
    this.status = status;
    this.errcode = errcode;
  }
}

export interface MatrixCall<T extends z.ZodType> {
  readonly result: T;
  readonly signal: AbortSignal;
  readonly method?: "GET" | "PUT";
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  readonly timeoutMs?: number;
}

export class Homeserver {
  readonly #root: string;
  readonly #token: () => Promise<string>;

  constructor(url: string, token: () => Promise<string>) {
    this.#root = trimEnd(url, "/");
    this.#token = token;
  }

  /** Encodes the parts of the path. */
  async call<T extends z.ZodType>(path: readonly string[], call: MatrixCall<T>): Promise<z.infer<T>> {
    const { result, query = {}, timeoutMs = CALL_MS, ...request } = call;
    const url = new URL(`${this.#root}/_matrix/client/${path.map(encodeURIComponent).join("/")}`);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const headers = { authorization: `Bearer ${await this.#token()}` };
    const { status, body } = await requestJson(url.href, { ...request, headers, timeoutMs });
    if (status !== 200) throw refusalOf(status, body);
    const parsed = result.safeParse(body);
    if (!parsed.success) throw new SourceFailure("unreachable", "The homeserver answered in an unknown format");
    return parsed.data;
  }
}

function refusalOf(status: number, body: unknown): MatrixRefusal {
  const refusal = wire.refusal.safeParse(body);
  if (!refusal.success) return new MatrixRefusal(status, "", `The homeserver answered with HTTP status ${status}`);
  const { errcode, error, retry_after_ms: retryAfterMs } = refusal.data;
  return new MatrixRefusal(status, errcode, `The homeserver refused: ${error} (${errcode})`, retryAfterMs);
}

function kindOf(status: number, errcode: string): FailureKind {
  if (status === 401 || errcode === "M_UNKNOWN_TOKEN" || errcode === "M_MISSING_TOKEN") return "unauthorized";
  if (status === 429 || errcode === "M_LIMIT_EXCEEDED") return "rate_limited";
  return status >= 500 || status < 400 ? "unreachable" : "refused";
}
