// MCP over WebSocket, server side: one message per text frame. Host and Origin are checked before the upgrade.

import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer as Acceptor, type RawData } from "ws";
import { ClientConnection } from "./connection.ts";
import type { Requester, Service } from "./service.ts";
import { closeSocket, SUBPROTOCOL, watchLiveness } from "../rpc/websocket.ts";

export interface WebSocketServerOptions {
  readonly service: Service;
  readonly maxMessageBytes?: number;
  readonly pingMs?: number;
}

const MAX_MESSAGE_BYTES = 4 << 20;
const MAX_CONNECTIONS = 1000;
/** A client that leaves this much unread is disconnected. */
const MAX_UNREAD_BYTES = 1 << 20;

const CLOSE = { goingAway: 1001, unsupportedData: 1003, policy: 1008 } as const;

export class WebSocketServer {
  readonly #options: WebSocketServerOptions;
  readonly #acceptor: Acceptor;
  readonly #sockets = new Set<WebSocket>();

  constructor(options: WebSocketServerOptions) {
    this.#options = options;
    this.#acceptor = new Acceptor({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: options.maxMessageBytes ?? MAX_MESSAGE_BYTES,
      handleProtocols: () => SUBPROTOCOL,
    });
  }

  get sessionCount(): number {
    return this.#sockets.size;
  }

  /** Why an upgrade is refused, if it is. */
  refuse({ headers }: IncomingMessage): { readonly status: 400 | 503; readonly message: string } | undefined {
    const offered = (headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
    if (!offered.includes(SUBPROTOCOL)) {
      return { status: 400, message: `A WebSocket needs the subprotocol ${SUBPROTOCOL}` };
    }
    if (this.#sockets.size >= MAX_CONNECTIONS) {
      return { status: 503, message: `Too many connections (${MAX_CONNECTIONS})` };
    }
    return undefined;
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, requester?: Requester): void {
    this.#acceptor.handleUpgrade(request, socket, head, (accepted) => this.#serve(accepted, request, requester));
  }

  /** Ends all connections. */
  close(): void {
    for (const socket of this.#sockets) void closeSocket(socket, CLOSE.goingAway);
  }

  #serve(socket: WebSocket, { headers }: IncomingMessage, requester: Requester | undefined): void {
    this.#sockets.add(socket);
    watchLiveness(socket, this.#options);
    const connection = new ClientConnection({
      service: this.#options.service,
      transport: "websocket",
      sessionId: randomUUID(),
      headers,
      requester,
      send: (message) => send(socket, message),
      disconnect: () => void closeSocket(socket, CLOSE.goingAway),
    });
    const onMessage = (data: RawData, isBinary: boolean) => {
      if (isBinary || !Buffer.isBuffer(data)) void closeSocket(socket, CLOSE.unsupportedData, "Text frames only");
      else connection.receive(data);
    };
    socket.on("message", onMessage);
    const release = requester?.onceEnded(() => {
      socket.off("message", onMessage);
      connection.end();
      void closeSocket(socket, CLOSE.policy, "The access has ended");
    });
    // Invalid or too large frames: the library closes the connection.
    socket.on("error", () => undefined);
    socket.once("close", () => {
      release?.();
      this.#sockets.delete(socket);
      connection.end();
    });
  }
}

function send(socket: WebSocket, message: Buffer): void {
  if (socket.readyState !== WebSocket.OPEN) return;
  // Only the backlog counts: a single message may be large.
  if (socket.bufferedAmount > MAX_UNREAD_BYTES) socket.terminate();
  else socket.send(message, { binary: false });
}
