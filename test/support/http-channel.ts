// Small HTTP servers and an HttpChannel to them, for the tests of http-client.ts. Everything closes with its test.

import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTcpServer, type Server as TcpServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { HubError } from "../../hub/src/errors.ts";
import { HttpChannel } from "../../hub/src/protocol/connect/http-client.ts";
import { listen } from "./sockets.ts";

/** A request as the server got it. */
export interface SeenRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: string;
}

export async function openUrl(server: Server | TcpServer): Promise<URL> {
  return new URL(`http://127.0.0.1:${await listen(server)}/mcp?x=1`);
}

export async function serve(answer: (seen: SeenRequest) => void) {
  const seen: SeenRequest[] = [];
  const news = new EventEmitter();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const one = { request, response, body: Buffer.concat(chunks).toString() };
      seen.push(one);
      answer(one);
      news.emit("news");
    });
  });
  const url = await openUrl(server);
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const request = async (index: number): Promise<SeenRequest> => {
    for (;;) {
      const one = seen[index];
      if (one !== undefined) return one;
      await once(news, "news");
    }
  };
  return { url, server, seen, request };
}

/** A TCP server that gets each socket when the request has arrived. */
export async function serveRaw(answer: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => answer(socket));
  });
  const url = await openUrl(server);
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return url;
}

interface ConnectOptions {
  readonly maxMessageBytes?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the request counts as waiting for its reply. */
  readonly waits?: boolean;
}

export function connect(url: URL, { maxMessageBytes = 1 << 20, headers = {}, waits = false }: ConnectOptions = {}) {
  const messages: [text: string, via: number | undefined][] = [];
  const finished: [id: number, error: HubError][] = [];
  const unreachable: HubError[] = [];
  const news = new EventEmitter();
  const channel = new HttpChannel({
    url,
    headers,
    maxMessageBytes,
    connectTimeoutMs: 5000,
    isWaiting: () => waits,
    onMessage: (bytes, via) => {
      messages.push([bytes.toString(), via]);
      news.emit("news");
    },
    onFinished: (id, why) => {
      finished.push([id, why()]);
      news.emit("news");
    },
    onUnreachable: (error) => {
      unreachable.push(error);
      news.emit("news");
    },
  });
  onTestFinished(() => channel.close());
  const until = async (holds: () => boolean) => {
    while (!holds()) await once(news, "news");
  };
  const send = (id: number, more: Record<string, string> = {}) =>
    channel.send(Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"x"}`), { id, method: "x", headers: more });
  const ask = async (id = 1) => {
    send(id);
    await until(() => finished.some(([done]) => done === id));
    return finished.find(([done]) => done === id)?.[1];
  };
  return { channel, messages, finished, unreachable, send, ask, until };
}

export const json = (response: ServerResponse, body: string, status = 200, headers = {}) =>
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
export const sse = (response: ServerResponse) => response.writeHead(200, { "content-type": "text/event-stream" });

export const ANSWER = '{"jsonrpc":"2.0","id":1,"result":{"n":1.0,"text":"äöü €"}}';
export const LOG = '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"\u{1f600}"}}';
export const STREAM = `: hello\n\nid: 1\ndata:\n\nevent: message\r\ndata: ${LOG}\r\n\r\ndata: ${ANSWER}\n\n`;
