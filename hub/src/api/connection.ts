// The HTTP side of the client: one request at a time, the token on each, and every failure as a HubError.

import type { IncomingMessage } from "node:http";
import { ERRORS, HubError, type ErrorKind } from "../errors.ts";
import { isObject } from "../wire/json.ts";
import { readAll, send } from "./request.ts";
import { trimEnd } from "../trim.ts";

/** What a caller calls itself in the call log; `api` unless told. */
export const CLIENT_HEADER = "plugboard-client";

export interface ConnectionOptions {
  /** Where the hub listens: `http://127.0.0.1:7430`. */
  readonly url: string;
  readonly token: string;
  /** What this program is called in the call log; `api` unless told. */
  readonly client?: string | undefined;
  /** How long the hub may take to answer; not for streams. */
  readonly timeoutMs?: number | undefined;
  /** Told of every answer, for whoever wants to see what goes on. */
  readonly onAnswer?: ((answer: AnsweredRequest) => void) | undefined;
}

export interface AnsweredRequest {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly requestId: string | undefined;
  readonly durationMs: number;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Exchange {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly query?: Query | undefined;
  /** JSON: a value, or its bytes. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #url: string;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#url = trimEnd(options.url, "/");
  }

  /** The data of the answer; undefined where there is none. */
  async ask<T>(path: string, exchange: Exchange = {}): Promise<T> {
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- the shapes are the hub's own, from the same source
    return parse((await this.askBytes(path, exchange)).toString()) as T;
  }

  /** The answer as it came. */
  async askBytes(path: string, { signal, ...exchange }: Exchange = {}): Promise<Buffer> {
    const { timeoutMs } = this.#options;
    const late = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
    const either = [signal, late].filter((each) => each !== undefined);
    const open = { ...exchange, ...(either.length === 0 ? {} : { signal: AbortSignal.any(either) }) };
    try {
      const answer = await this.open(path, open);
      return await readAll(answer).catch((error: unknown) => Promise.reject(this.#unreachable(error)));
    } catch (error) {
      if (late?.aborted !== true || signal?.aborted === true) throw error;
      throw new HubError("Timeout", `The hub did not answer within ${timeoutMs} ms`, {
        hint: "Give it more time: --timeout 60s",
        cause: error,
      });
    }
  }

  /** The answer before its body is read. */
  async open(path: string, exchange: Exchange = {}): Promise<IncomingMessage> {
    const { method = "GET", query = {}, body, headers, signal } = exchange;
    const url = new URL(`${this.#url}/api/v1${path}`);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const startedAt = performance.now();
    const answer = await send(url, {
      method,
      headers: {
        authorization: `Bearer ${this.#options.token}`,
        ...(this.#options.client === undefined ? {} : { [CLIENT_HEADER]: this.#options.client }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      body: body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body)),
      signal,
    }).catch((error: unknown) =>
      Promise.reject(signal?.aborted === true ? cancelled(error) : this.#unreachable(error)),
    );
    const { statusCode: status = 0, headers: told } = answer;
    const requestId = told["x-request-id"];
    this.#options.onAnswer?.({
      method,
      path: url.pathname + url.search,
      status,
      requestId: typeof requestId === "string" ? requestId : undefined,
      durationMs: performance.now() - startedAt,
    });
    if (status >= 200 && status < 300) return answer;
    const text = await readAll(answer).then(String, () => "");
    throw toError(status, parse(text));
  }

  #unreachable(cause: unknown): HubError {
    return new HubError("ConnectionFailed", `No hub answers at ${this.#url}`, {
      hint: "Start it with: plugboard up",
      cause,
    });
  }
}

function cancelled(cause: unknown): HubError {
  return new HubError("Cancelled", "The request was cancelled", { cause });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // no content, or no JSON: the status says the rest
  }
}

/** What the hub threw, from what it sent. */
function toError(status: number, problem: unknown): HubError {
  const { kind, message, field, detail, hint } = isObject(problem) ? problem : {};
  const text = typeof message === "string" ? message : `The hub answered with HTTP ${status}`;
  return new HubError(toKind(kind, status), text, {
    ...(typeof field === "string" ? { field } : {}),
    ...(typeof detail === "string" && detail !== text ? { detail } : {}),
    ...(typeof hint === "string" ? { hint } : {}),
  });
}

/** A hub of another version may have kinds that we do not know; its status still says what it means. */
function toKind(kind: unknown, status: number): ErrorKind {
  const known = KINDS.find((name) => name === kind) ?? KINDS.find((name) => ERRORS[name].http === status);
  return known ?? (status < 500 ? "InvalidConfig" : "Unexpected");
}

// eslint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a literal are its keys
const KINDS = Object.keys(ERRORS) as ErrorKind[];
