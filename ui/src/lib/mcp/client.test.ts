// The browser's MCP client against a scripted endpoint: what it sends, and what it makes of streams that ask, break and return.

import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../text/json.ts";
import { McpClient, type McpOptions, type Progress, type Traffic } from "./client.ts";
import { ConnectionError, McpError } from "./messages.ts";

interface Exchange {
  readonly method: string;
  readonly headers: Headers;
  readonly message: JsonObject | undefined;
  readonly signal: AbortSignal;
}

/** What the endpoint does with one kind of message. */
type Reply = (exchange: Exchange, endpoint: Endpoint) => Response | Promise<Response>;

class Endpoint {
  readonly seen: Exchange[] = [];
  readonly replies = new Map<string, Reply>();
  session = "s1";

  readonly fetch = (async (_: string, init: RequestInit): Promise<Response> => {
    const message = typeof init.body === "string" ? (JSON.parse(init.body) as JsonObject) : undefined;
    const exchange: Exchange = {
      method: init.method ?? "GET",
      headers: new Headers(init.headers),
      message,
      signal: init.signal ?? new AbortController().signal,
    };
    this.seen.push(exchange);
    const key =
      typeof message?.["method"] === "string" ? message["method"] : message === undefined ? exchange.method : "answer";
    const reply = this.replies.get(key);
    if (reply !== undefined) return await reply(exchange, this);
    if (key === "initialize") {
      const result = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "x", version: "1" } };
      return json({ jsonrpc: "2.0", id: message?.["id"] ?? null, result }, { "mcp-session-id": this.session });
    }
    if (key === "GET") return new Response(null, { status: 405 });
    return new Response(null, { status: 202 });
  }) as typeof fetch;

  sent(method: string): JsonObject[] {
    return this.seen.flatMap(({ message }) => (message?.["method"] === method ? [message] : []));
  }
}

function json(value: JsonObject, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(value), { headers: { "content-type": "application/json", ...headers } });
}

/** A stream whose pieces are given by the test. */
function stream(): { response: Response; send: (text: string) => void; end: () => void; break: () => Promise<void> } {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
  return {
    response: new Response(body, { headers: { "content-type": "text/event-stream" } }),
    send: (text) => controller.enqueue(new TextEncoder().encode(text)),
    end: () => controller.close(),
    break: async () => {
      // An error would discard what is not read yet.
      while (controller.desiredSize !== 1) await new Promise((resolve) => setImmediate(resolve));
      controller.error(new Error("reset"));
    },
  };
}

const event = (message: JsonObject, id?: string) =>
  `${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`;
const result = (id: unknown, value: JsonObject): JsonObject => ({ jsonrpc: "2.0", id: id as number, result: value });

const open: McpClient[] = [];
afterEach(() => {
  for (const client of open.splice(0)) client.close();
});

function connect(endpoint: Endpoint, options: Partial<McpOptions> = {}): McpClient {
  const client = new McpClient({
    url: "http://hub/mcp",
    fetch: endpoint.fetch,
    clientInfo: { name: "ui", version: "1" },
    capabilities: { elicitation: {} },
    pause: async () => undefined,
    ...options,
  });
  open.push(client);
  return client;
}

describe("the browser's MCP client", () => {
  it("initializes once, then sends the session and the revision", async () => {
    const endpoint = new Endpoint();
    endpoint.replies.set("tools/list", ({ message }) => json(result(message?.["id"], { tools: [] })));
    const client = connect(endpoint);
    const answers = await Promise.all([client.request("tools/list", {}), client.request("tools/list", {})]);
    expect(answers.map(({ kind }) => kind)).toEqual(["result", "result"]);
    expect(endpoint.sent("initialize")).toHaveLength(1);
    expect(endpoint.sent("notifications/initialized")).toHaveLength(1);
    const last = endpoint.seen.findLast(({ message }) => message?.["method"] === "tools/list");
    expect(last?.headers.get("mcp-session-id")).toBe("s1");
    expect(last?.headers.get("mcp-protocol-version")).toBe("2025-11-25");
  });

  it("reports progress and log messages of a call, from a stream cut in the middle of characters", async () => {
    const endpoint = new Endpoint();
    const progress: Progress[] = [];
    const notices: string[] = [];
    endpoint.replies.set("tools/call", ({ message }) => {
      const { _meta: meta } = (message ?? {})["params"] as unknown as { _meta: { progressToken: number } };
      const token = meta.progressToken;
      const text =
        event({
          jsonrpc: "2.0",
          method: "notifications/progress",
          params: { progressToken: token, progress: 1, total: 2 },
        }) +
        event({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "grüß" } }) +
        event(result(message?.["id"], { content: [] }));
      const bytes = new TextEncoder().encode(text);
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          for (let at = 0; at < bytes.length; at += 3) controller.enqueue(bytes.slice(at, at + 3));
          controller.close();
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    });
    const client = connect(endpoint, {
      onNotification: (method, params) => notices.push(`${method} ${JSON.stringify(params["data"])}`),
    });
    const answer = await client.request("tools/call", { name: "x" }, { onProgress: (given) => progress.push(given) });
    expect(answer.kind).toBe("result");
    expect(progress).toEqual([{ progress: 1, total: 2, message: undefined }]);
    expect(notices).toContain('notifications/message "grüß"');
  });

  it("a cancelled call tells the server and fails with the reason", async () => {
    const endpoint = new Endpoint();
    const call = stream();
    endpoint.replies.set("tools/call", () => call.response);
    const client = connect(endpoint);
    const abort = new AbortController();
    const running = client.request(
      "tools/call",
      { name: "x" },
      { signal: abort.signal, onId: () => queueMicrotask(() => abort.abort("stop")) },
    );
    await expect(running).rejects.toBe("stop");
    await expect.poll(() => endpoint.sent("notifications/cancelled")).toHaveLength(1);
    const [id] = endpoint.sent("tools/call").map((message) => message["id"]);
    expect(endpoint.sent("notifications/cancelled")[0]?.["params"]).toMatchObject({ requestId: id });
  });

  it("passes a question to the page and its answer to the server", async () => {
    const endpoint = new Endpoint();
    const call = stream();
    let asked: unknown;
    endpoint.replies.set("tools/call", ({ message }) => {
      call.send(event({ jsonrpc: "2.0", id: "q1", method: "elicitation/create", params: { message: "Name?" } }));
      endpoint.replies.set("answer", ({ message: answer }) => {
        asked = answer;
        call.send(event(result(message?.["id"], { content: [] })));
        call.end();
        return new Response(null, { status: 202 });
      });
      return call.response;
    });
    const calls: unknown[] = [];
    const client = connect(endpoint, {
      onRequest: async ({ method, params }, of) => {
        calls.push([method, params["message"], of]);
        return { action: "accept", content: { name: "Ann" } };
      },
    });
    let id: unknown;
    await client.request("tools/call", { name: "x" }, { onId: (given) => void (id = given) });
    expect(calls).toEqual([["elicitation/create", "Name?", id]]);
    expect(asked).toEqual({ jsonrpc: "2.0", id: "q1", result: { action: "accept", content: { name: "Ann" } } });
  });

  it("a question that the server takes back is aborted and gets no answer", async () => {
    const endpoint = new Endpoint();
    const call = stream();
    endpoint.replies.set("tools/call", () => {
      call.send(event({ jsonrpc: "2.0", id: 5, method: "sampling/createMessage", params: {} }));
      return call.response;
    });
    let wasAborted = false;
    const client = connect(endpoint, {
      onRequest: ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            wasAborted = true;
            resolve({});
          });
          call.send(event({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 5 } }));
          call.send(event(result(2, { content: [] })));
        }),
    });
    await client.request("tools/call", { name: "x" });
    expect(wasAborted).toBe(true);
    expect(endpoint.seen.filter(({ message }) => message !== undefined && !("method" in message))).toEqual([]);
  });

  it("a refusal of the page is sent as an error, an unknown request too", async () => {
    const endpoint = new Endpoint();
    const call = stream();
    const answers: JsonObject[] = [];
    endpoint.replies.set("answer", ({ message }) => {
      answers.push(message ?? {});
      if (answers.length === 2) call.send(event(result(2, {})));
      return new Response(null, { status: 202 });
    });
    endpoint.replies.set("tools/call", () => {
      call.send(event({ jsonrpc: "2.0", id: 1, method: "sampling/createMessage" }));
      call.send(event({ jsonrpc: "2.0", id: 2, method: "ping" }));
      return call.response;
    });
    const client = connect(endpoint, { onRequest: () => Promise.reject(new McpError(-1, "declined")) });
    await client.request("tools/call", { name: "x" });
    expect(answers).toContainEqual({ jsonrpc: "2.0", id: 1, error: { code: -1, message: "declined" } });
    expect(answers).toContainEqual({ jsonrpc: "2.0", id: 2, result: {} });
  });

  it("resumes a broken stream after its last event", async () => {
    const endpoint = new Endpoint();
    const first = stream();
    endpoint.replies.set("tools/call", ({ message }) => {
      first.send("id: e1\ndata:\n\n");
      void first.break();
      endpoint.replies.set("GET", ({ headers }) => {
        expect(headers.get("last-event-id")).toBe("e1");
        const second = stream();
        second.send(event(result(message?.["id"], { content: [], resumed: true }), "e2"));
        second.end();
        return second.response;
      });
      return first.response;
    });
    const client = connect(endpoint);
    expect(await client.request("tools/call", { name: "x" })).toMatchObject({
      kind: "result",
      result: { resumed: true },
    });
    expect(endpoint.sent("tools/call")).toHaveLength(1);
  });

  it("a stream that breaks without ids is a lost connection, and the call is not repeated", async () => {
    const endpoint = new Endpoint();
    endpoint.replies.set("tools/call", () => {
      const call = stream();
      void call.break();
      return call.response;
    });
    const client = connect(endpoint);
    await expect(client.request("tools/call", { name: "x" })).rejects.toBeInstanceOf(ConnectionError);
    expect(endpoint.sent("tools/call")).toHaveLength(1);
  });

  it("starts a new session when the hub has forgotten the old one", async () => {
    const endpoint = new Endpoint();
    endpoint.replies.set("tools/list", ({ message, headers }) =>
      headers.get("mcp-session-id") === "s2"
        ? json(result(message?.["id"], { tools: [] }))
        : new Response("{}", { status: 404 }),
    );
    const client = connect(endpoint);
    await client.connect();
    endpoint.session = "s2";
    expect((await client.request("tools/list", {})).kind).toBe("result");
    expect(endpoint.sent("initialize")).toHaveLength(2);
  });

  it("an error of the hub carries its problem document", async () => {
    const endpoint = new Endpoint();
    endpoint.replies.set(
      "initialize",
      () => new Response('{"message":"Server x is disabled","code":"CONFLICT"}', { status: 409 }),
    );
    const failed = connect(endpoint).request("tools/list", {});
    await expect(failed).rejects.toMatchObject({ status: 409, message: "Server x is disabled" });
  });

  it("records every message in both directions with its text", async () => {
    const endpoint = new Endpoint();
    const text = '{"jsonrpc":"2.0","id":2,"result":{"n":12345678901234567890}}';
    endpoint.replies.set("tools/call", () => new Response(text, { headers: { "content-type": "application/json" } }));
    const traffic: Traffic[] = [];
    const client = connect(endpoint, { onTraffic: (given) => traffic.push(given) });
    const answer = await client.request("tools/call", { name: "x" });
    expect(answer.text).toBe(text);
    expect(traffic.map(({ direction, call }) => `${direction} ${call ?? "-"}`)).toEqual([
      "sent 1",
      "received 1",
      "sent -",
      "sent 2",
      "received 2",
    ]);
  });

  it("a closed client ends its session, and open requests fail", async () => {
    const endpoint = new Endpoint();
    endpoint.replies.set("tools/call", () => stream().response);
    const client = connect(endpoint);
    const running = client.request("tools/call", { name: "x" }, { onId: () => setTimeout(() => client.close(), 5) });
    await expect(running).rejects.toBeInstanceOf(ConnectionError);
    expect(endpoint.seen.filter(({ method }) => method === "DELETE")).toHaveLength(1);
  });
});
