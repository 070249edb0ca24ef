// A minimal MCP client over HTTP, for tests that check the bytes. Other tests use the SDKs.

import { request, type Agent, type IncomingHttpHeaders } from "node:http";

export interface HttpResult {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface HttpOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
  /** Keeps connections open, for tests with many requests. */
  readonly agent?: Agent;
}

/** One request with full control over headers: fetch does not allow a foreign Host. */
export function http(url: string, options: HttpOptions = {}): Promise<HttpResult> {
  const { method = "POST", headers = {}, body, agent = false } = options;
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
        }),
      );
      response.on("error", reject);
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

export function post(
  url: string,
  message: unknown,
  headers: Readonly<Record<string, string>> = {},
  agent?: Agent,
): Promise<HttpResult> {
  const body = typeof message === "string" || Buffer.isBuffer(message) ? message : JSON.stringify(message);
  return http(url, { headers: { ...JSON_HEADERS, ...headers }, body, ...(agent === undefined ? {} : { agent }) });
}

/** A legacy session: the handshake, then requests by method. Answers are parsed, from JSON or from an event stream. */
export async function connect(
  url: string,
  protocolVersion = "2025-11-25",
  agent?: Agent,
  capabilities: object = {},
  authorization?: string,
) {
  const introduction = { protocolVersion, capabilities, clientInfo: { name: "test", version: "1" } };
  const credentials: Record<string, string> = authorization === undefined ? {} : { authorization };
  const initialize = { jsonrpc: "2.0", id: 0, method: "initialize", params: introduction };
  const hello = await post(url, initialize, credentials);
  const headers = {
    ...credentials,
    "mcp-session-id": String(hello.headers["mcp-session-id"]),
    "mcp-protocol-version": protocolVersion,
  };
  await post(url, { jsonrpc: "2.0", method: "notifications/initialized" }, headers);
  let id = 0;
  const send = (method: string, params: unknown = {}) =>
    post(url, { jsonrpc: "2.0", id: ++id, method, params }, headers, agent);
  return {
    headers,
    hello: JSON.parse(hello.body),
    /** The raw response: its status, and everything before the answer. */
    send,
    request: async (method: string, params: unknown = {}) => answerOf((await send(method, params)).body),
  };
}

/** The last message of a body. */
export function answerOf(body: string) {
  if (!body.startsWith("event:") && !body.startsWith("data:") && !body.startsWith(":")) return JSON.parse(body);
  const data = body.split("\n").filter((line) => line.startsWith("data:"));
  return JSON.parse((data[data.length - 1] ?? "").slice("data:".length));
}

const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** One modern request with its envelope and headers. */
export function modern(
  url: string,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
  agent?: Agent,
) {
  const name = params["name"] ?? params["uri"];
  const all = {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    ...(typeof name === "string" ? { "mcp-name": name } : {}),
    ...headers,
  };
  return post(
    url,
    { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: { ...ENVELOPE, ...(params["_meta"] as object) } } },
    all,
    agent,
  );
}
