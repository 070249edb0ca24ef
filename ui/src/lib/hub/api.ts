// Requests to the hub's REST API. A failed one throws a Problem, whatever went wrong.

import { readEvents, type ServerEvent } from "./sse.ts";

const KEY = "plugboard.key";

interface FieldError {
  readonly field: string;
  readonly code: string;
  readonly message: string;
  /** Where it is in a text that was sent, from 1. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

export interface ProblemFields {
  readonly status: number;
  readonly code: string;
  readonly kind: string | null;
  readonly message: string;
  readonly detail?: string | undefined;
  readonly hint?: string | undefined;
  readonly field?: string | null | undefined;
  readonly errors?: readonly FieldError[] | undefined;
  readonly loginUrl?: string | undefined;
  readonly requestId?: string | undefined;
}

/** A failed request. Status 0: the hub did not answer. */
export class Problem extends Error implements ProblemFields {
  override readonly name = "Problem";
  readonly status: number;
  readonly code: string;
  readonly kind: string | null;
  readonly detail: string | undefined;
  readonly hint: string | undefined;
  readonly field: string | undefined;
  readonly errors: NonNullable<ProblemFields["errors"]>;
  readonly loginUrl: string | undefined;
  readonly requestId: string | undefined;

  constructor(fields: ProblemFields, options?: ErrorOptions) {
    super(fields.message, options);
    this.status = fields.status;
    this.code = fields.code;
    this.kind = fields.kind;
    this.detail = fields.detail;
    this.hint = fields.hint;
    this.field = fields.field ?? undefined;
    this.errors = fields.errors ?? [];
    this.loginUrl = fields.loginUrl;
    this.requestId = fields.requestId;
  }
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The ETag that the change is based on. */
  readonly ifMatch?: string | undefined;
  /** Sent to the end even if the page is closed. */
  readonly keepalive?: boolean | undefined;
}

export interface Answer<T> {
  readonly data: T;
  readonly headers: Headers;
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

interface Events {
  /** The hub does not know this browser, or no longer. */
  readonly unauthorized: Set<() => void>;
}

export class Api {
  readonly #base: URL;
  readonly #fetch: typeof fetch;
  readonly #storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;
  readonly #events: Events = { unauthorized: new Set() };
  readonly #sent = new Set<string>();

  constructor(
    base: string | URL,
    fetcher: typeof fetch = (input, init) => fetch(input, init),
    storage: Pick<Storage, "getItem" | "setItem" | "removeItem"> = localStorage,
  ) {
    this.#base = new URL(base);
    this.#fetch = fetcher;
    this.#storage = storage;
  }

  /** The page's half of the session; the other half is a cookie that scripts cannot read. */
  get pageKey(): string | null {
    return this.#storage.getItem(KEY);
  }

  set pageKey(key: string | null) {
    if (key === null) this.#storage.removeItem(KEY);
    else this.#storage.setItem(KEY, key);
  }

  /** The address of a route: "/servers" → "http://127.0.0.1:7430/api/v1/servers". */
  url(path: string): string {
    return new URL(path.replace(/^\//, ""), this.#base).href;
  }

  onUnauthorized(listener: () => void): () => void {
    this.#events.unauthorized.add(listener);
    return () => this.#events.unauthorized.delete(listener);
  }

  /** Passes on that the session does not count any more. */
  refused(): void {
    for (const listener of this.#events.unauthorized) listener();
  }

  /** Whether this page made the request: events name the request that caused them. */
  sent(requestId: string): boolean {
    return this.#sent.has(requestId);
  }

  async get<T>(path: string, options?: RequestOptions): Promise<T> {
    return (await this.request<T>("GET", path, undefined, options)).data;
  }

  async post<T>(path: string, body?: unknown, options?: RequestOptions): Promise<T> {
    return (await this.request<T>("POST", path, body, options)).data;
  }

  async put<T>(path: string, body?: unknown, options?: RequestOptions): Promise<T> {
    return (await this.request<T>("PUT", path, body, options)).data;
  }

  async patch<T>(path: string, body?: unknown, options?: RequestOptions): Promise<T> {
    return (await this.request<T>("PATCH", path, body, options)).data;
  }

  async del<T = void>(path: string, options?: RequestOptions): Promise<T> {
    return (await this.request<T>("DELETE", path, undefined, options)).data;
  }

  /** With the headers of the answer: ETag, X-Request-Id. */
  async request<T>(method: Method, path: string, body?: unknown, options: RequestOptions = {}): Promise<Answer<T>> {
    const response = await this.send(method, path, body, options);
    const text = await this.#text(response);
    // The shape is the hub's promise: its schemas validate what it sends.
    const data = (text === "" ? undefined : JSON.parse(text)) as T;
    return { data, headers: response.headers };
  }

  /** An answer in parts: events of `text/event-stream`, until it ends or the signal aborts. */
  async stream(
    path: string,
    init: RequestOptions & { readonly method?: Method; readonly body?: unknown; readonly onBytes?: () => void },
    onEvent: (event: ServerEvent) => void,
  ): Promise<void> {
    const headers = { accept: "text/event-stream", ...init.headers };
    const response = await this.send(init.method ?? "GET", path, init.body, { ...init, headers });
    if (response.body === null) return;
    try {
      await readEvents(response.body, onEvent, init.onBytes);
    } catch (error) {
      throw this.#unreachable(error);
    }
  }

  /** The bare response, for what is neither JSON nor events: downloads. */
  async send(method: Method, path: string, body?: unknown, options: RequestOptions = {}): Promise<Response> {
    const requestId = crypto.randomUUID();
    const headers = new Headers({ "x-request-id": requestId, ...options.headers });
    const key = this.pageKey;
    if (key !== null) headers.set("x-plugboard-key", key);
    if (options.ifMatch !== undefined) headers.set("if-match", options.ifMatch);
    if (body !== undefined) headers.set("content-type", "application/json");
    if (method !== "GET") this.#note(requestId);
    const response = await this.#fetch(this.url(path), {
      method,
      headers,
      credentials: "same-origin",
      cache: "no-store",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      ...(options.keepalive === undefined ? {} : { keepalive: options.keepalive }),
    }).catch((error: unknown) => {
      throw this.#unreachable(error);
    });
    if (response.ok) return response;
    if (response.status === 401) this.refused();
    throw problemOf(response, await this.#text(response));
  }

  /** A request as it is, with the session of this page: for MCP, which has a protocol of its own above HTTP. */
  async fetch(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    const key = this.pageKey;
    if (key !== null) headers.set("x-plugboard-key", key);
    const response = await this.#fetch(input, { ...init, headers, credentials: "same-origin", cache: "no-store" });
    if (response.status === 401) this.refused();
    return response;
  }

  #text(response: Response): Promise<string> {
    return response.text().catch((error: unknown) => {
      throw this.#unreachable(error);
    });
  }

  /** An abort is the caller's own doing and stays what it is. */
  #unreachable(error: unknown): unknown {
    if (error instanceof DOMException && error.name === "AbortError") return error;
    const message = "The hub does not answer";
    return new Problem(
      { status: 0, code: "UNREACHABLE", kind: null, message, hint: "plugboard status" },
      { cause: error },
    );
  }

  /** Bounded: an event follows its request within seconds. */
  #note(requestId: string): void {
    this.#sent.add(requestId);
    const [oldest] = this.#sent;
    if (this.#sent.size > 100 && oldest !== undefined) this.#sent.delete(oldest);
  }
}

function problemOf({ status, statusText, headers }: Response, text: string): Problem {
  const requestId = headers.get("x-request-id") ?? undefined;
  const body = parse(text);
  if (body === undefined) {
    const message = statusText === "" ? `The hub answered with status ${status}` : statusText;
    return new Problem({ status, code: "HTTP_ERROR", kind: null, message, requestId });
  }
  const { login_url: loginUrl, detail, message, ...fields } = body;
  // RFC 9457 has the whole text in `detail`; only what `message` does not say already is worth showing.
  const more = detail === message ? undefined : detail;
  return new Problem({ ...fields, status, message, detail: more, loginUrl, requestId: body.request_id ?? requestId });
}

type ProblemBody = ProblemFields & { readonly login_url?: string; readonly request_id?: string };

function parse(text: string): ProblemBody | undefined {
  try {
    const body: unknown = JSON.parse(text);
    const isProblem = typeof body === "object" && body !== null && "message" in body && "code" in body;
    return isProblem ? (body as ProblemBody) : undefined;
  } catch {
    return undefined;
  }
}

/** The one of this page. Under Node, where tests import what uses it, there is no page. */
export const api = new Api(
  typeof document === "undefined" ? "http://localhost/api/v1/" : new URL("../api/v1/", document.baseURI),
  undefined,
  typeof localStorage === "undefined" ? { getItem: () => null, setItem: () => {}, removeItem: () => {} } : localStorage,
);
