// MCP over WebSocket, the server's side: one message per text frame. Host and Origin are checked before the upgrade; what the
// messages mean for the connection is the conversation's.

import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer as Acceptor } from "ws";
import { Conversation } from "./conversation.ts";
import type { Service } from "./server.ts";
import { watchLiveness } from "./ws-liveness.ts";
import { closeSocket, SUBPROTOCOL } from "./ws-socket.ts";

export interface WebSocketServerOptions {
  readonly service: Service;
  readonly maxMessageBytes?: number;
  readonly pingMs?: number;
}

const MAX_MESSAGE_BYTES = 4 << 20;
const MAX_CONNECTIONS = 1000;
/** A reader that leaves this much unread is cut off: its memory is ours. */
const MAX_UNREAD_BYTES = 1 << 20;

const CLOSE = { goingAway: 1001, unsupportedData: 1003 } as const;

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

  /** Why a request for an upgrade is turned away, if it is: as an HTTP status with its reason. */
  refuse({ headers }: IncomingMessage): { readonly status: 400 | 503; readonly message: string } | undefined {
    const offered = (headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
    if (!offered.includes(SUBPROTOCOL)) {
      return { status: 400, message: `A WebSocket needs the subprotocol ${SUBPROTOCOL}` };
    }
    if (this.#sockets.size >= MAX_CONNECTIONS) {
      return { status: 503, message: `There are ${MAX_CONNECTIONS} connections already` };
    }
    return undefined;
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#acceptor.handleUpgrade(request, socket, head, (accepted) => this.#serve(accepted, request));
  }

  /** Ends all connections. */
  close(): void {
    for (const socket of this.#sockets) void closeSocket(socket, CLOSE.goingAway);
  }

  #serve(socket: WebSocket, { headers }: IncomingMessage): void {
    this.#sockets.add(socket);
    watchLiveness(socket, this.#options);
    const conversation = new Conversation({
      service: this.#options.service,
      transport: "websocket",
      sessionId: randomUUID(),
      headers,
      send: (message) => send(socket, message),
    });
    socket.on("message", (data, isBinary) => {
      if (isBinary || !Buffer.isBuffer(data)) void closeSocket(socket, CLOSE.unsupportedData, "Text frames only");
      else conversation.receive(data);
    });
    // A frame that is too large, or none at all: the library closes the connection and says why.
    socket.on("error", () => undefined);
    socket.once("close", () => {
      this.#sockets.delete(socket);
      conversation.end();
    });
  }
}

function send(socket: WebSocket, message: Buffer): void {
  if (socket.readyState !== WebSocket.OPEN) return;
  // One message may be large; it is the backlog before it that tells a reader who does not read.
  if (socket.bufferedAmount > MAX_UNREAD_BYTES) socket.terminate();
  else socket.send(message, { binary: false });
}
