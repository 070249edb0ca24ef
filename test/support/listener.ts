// A Listener with an MCP endpoint, and requests to it as raw bytes.

import { connect } from "node:net";
import { onTestFinished } from "vitest";
import { answerProbe } from "../../hub/src/api/server/probes.ts";
import { NodeResponse } from "../../hub/src/http/node-response.ts";
import { Listener, type Edge, type ListenerTimeouts } from "../../hub/src/http/listener.ts";
import { StreamableHttpServer } from "../../hub/src/protocol/serve/http-server.ts";
import { success } from "../../hub/src/protocol/rpc/jsonrpc.ts";
import { closed } from "./streams.ts";

/** A listener with an MCP endpoint at /mcp/default, as in the hub. `reached` counts the requests that pass the checks. */
export async function start(host = "127.0.0.1", timeoutsMs: Partial<ListenerTimeouts> = {}) {
  let reached = 0;
  const endpoint = new StreamableHttpServer({
    handle: async () => success({}),
    onNotification: () => undefined,
    onSession: () => undefined,
    onSessionEnd: () => undefined,
  });
  const probes: Edge = (request, response) =>
    answerProbe(request, response, { stopping: false, dataDir: ".", degraded: undefined, staysReady: false });
  const edge: Edge = (request, response) => {
    if (request.url?.startsWith("/mcp") !== true) return false;
    reached++;
    endpoint.handle(request, new NodeResponse(response));
    return true;
  };
  const listener = await Listener.open({ host, port: 0, edges: [probes, edge], timeoutsMs });
  onTestFinished(async () => {
    endpoint.close();
    await listener.close();
  });
  return { listener, url: listener.url, port: Number(new URL(listener.url).port), reached: () => reached };
}

/** One exchange of raw bytes. */
export async function raw(
  port: number,
  text: string,
  host = "127.0.0.1",
): Promise<{ status: number; head: string; body: string }> {
  const socket = connect(port, host);
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  socket.end(text);
  await closed(socket);
  const [head = "", body = ""] = Buffer.concat(chunks).toString().split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), head, body };
}

const HELLO = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25" },
});

export function message(
  headers: readonly string[],
  { line = "POST /mcp/default HTTP/1.1", body = HELLO } = {},
): string {
  const all = [
    ...headers,
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  return `${line}\r\n${all.join("\r\n")}\r\n\r\n${body}`;
}

export const ROUTES = [
  ["POST /mcp/default HTTP/1.1", HELLO],
  ["GET /mcp HTTP/1.1", ""],
  ["DELETE /mcp HTTP/1.1", ""],
  ["OPTIONS /mcp HTTP/1.1", ""],
  ["GET /healthz HTTP/1.1", ""],
  ["GET / HTTP/1.1", ""],
  ["GET /nowhere HTTP/1.1", ""],
] as const;
