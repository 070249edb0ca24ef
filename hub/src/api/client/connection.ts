// HTTP requests of the client: adds the token, and converts every failure into a HubError.

import type { IncomingMessage } from "node:http";
import { parseJson } from "@plugboard/shared/lenient";
import { ERRORS, HubError, type ErrorKind } from "../../errors.ts";
import { isObject } from "../../lib/json/json.ts";
import { readAll, send } from "./request.ts";
import { trimEnd } from "@plugboard/shared/trim";

/** Name of the client in the call log. Default: `api`. */
export const CLIENT_HEADER = "plugboard-client";

export interface ConnectionOptions {
  /** Address of the hub: `http://127.0.0.1:7430`. */
  readonly url: string;
  readonly token: string;
  /** Name of this program in the call log. Default: `api`. */
  readonly client?: string | undefined;
  /** Timeout of a request; not for streams. */
  readonly timeoutMs?: number | undefined;
  /** Called for every answer, for logging. */
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

export interface RequestOptions {
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

  /** The JSON of the answer; undefined if it has no content. */
  async request<T>(path: string, options: RequestOptions = {}): Promise<T> {
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- server and client share the schemas
    return parseJson((await this.requestBytes(path, options)).toString()) as T;
  }

  /** The body of the answer. */
  async requestBytes(path: string, { signal, ...options }: RequestOptions = {}): Promise<Buffer> {
    const { timeoutMs } = this.#options;
    const timeout = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
    const signals = [signal, timeout].filter((each) => each !== undefined);
    const open = { ...options, ...(signals.length === 0 ? {} : { signal: AbortSignal.any(signals) }) };
    try {
      const answer = await this.open(path, open);
      return await readAll(answer).catch((error: unknown) => Promise.reject(this.#unreachable(error)));
    } catch (error) {
      if (timeout?.aborted !== true || signal?.aborted === true) throw error;
      throw new HubError("Timeout", `The hub did not answer within ${timeoutMs} ms`, {
        hint: "Give it more time: --timeout 60s",
        cause: error,
      });
    }
  }

  /** The answer before its body is read. */
  async open(path: string, options: RequestOptions = {}): Promise<IncomingMessage> {
    const { method = "GET", query = {}, body, headers, signal } = options;
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
    const { statusCode: status = 0 } = answer;
    const requestId = answer.headers["x-request-id"];
    this.#options.onAnswer?.({
      method,
      path: url.pathname + url.search,
      status,
      requestId: typeof requestId === "string" ? requestId : undefined,
      durationMs: performance.now() - startedAt,
    });
    if (status >= 200 && status < 300) return answer;
    const text = await readAll(answer).then(String, () => "");
    throw toError(status, parseJson(text));
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

/** The HubError of a problem document. */
function toError(status: number, problem: unknown): HubError {
  const { kind, message, field, detail, hint } = isObject(problem) ? problem : {};
  const text = typeof message === "string" ? message : `The hub answered with HTTP ${status}`;
  return new HubError(toKind(kind, status), text, {
    ...(typeof field === "string" ? { field } : {}),
    ...(typeof detail === "string" && detail !== text ? { detail } : {}),
    ...(typeof hint === "string" ? { hint } : {}),
  });
}

/** A hub of another version may send an unknown kind: the status then decides. */
function toKind(kind: unknown, status: number): ErrorKind {
  const known = KINDS.find((name) => name === kind) ?? KINDS.find((name) => ERRORS[name].http === status);
  return known ?? (status < 500 ? "InvalidArgument" : "Unexpected");
}

// eslint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a literal are its keys
const KINDS = Object.keys(ERRORS) as ErrorKind[];
