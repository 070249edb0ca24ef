// MCP over WebSocket, the client's side: one message per text frame.

import { isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { WebSocket } from "ws";
import { HubError } from "../errors.ts";
import type { ConnectionOptions } from "./http-connection.ts";
import { broken, followRedirect, HttpStatusError, isUnreachable, tooLarge } from "./http-failure.ts";
import type { Channel } from "./peer.ts";
import type { Route } from "./route.ts";
import { openTunnel } from "./tunnel.ts";
import { watchLiveness } from "./ws-liveness.ts";
import { closeSocket, isTooLarge, SUBPROTOCOL } from "./ws-socket.ts";

export interface WebSocketChannelOptions extends ConnectionOptions {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxMessageBytes: number;
  readonly pingMs?: number;
  onMessage(bytes: Buffer): void;
  onLost(error: HubError): void;
}

/** As on a pipe: one that has stopped reading must not fill the hub's memory. */
const MAX_UNREAD_BYTES = 32 << 20;

export class WebSocketChannel implements Channel {
  readonly #socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  /** Resolves when the server has taken the connection. */
  static async open(options: WebSocketChannelOptions): Promise<WebSocketChannel> {
    const { url, headers, maxMessageBytes, connectTimeoutMs, lookup, pingMs, route = {} } = options;
    const through = await tunnelTo(url, route, connectTimeoutMs);
    const socket = new WebSocket(url, [SUBPROTOCOL], {
      headers,
      maxPayload: maxMessageBytes,
      handshakeTimeout: connectTimeoutMs,
      ...(lookup === undefined ? {} : { lookup }),
      ...route.tls,
      ...(through === undefined ? {} : { createConnection: () => through }),
      perMessageDeflate: false,
      // A redirect could lead to another origin, with this server's credentials.
      followRedirects: false,
    });
    let reason: HubError | undefined;
    let isLive = true;
    return new Promise((resolve, reject) => {
      // The library takes silence for a refusal, but it only says that the server has one protocol. To name another is one.
      socket.once("upgrade", ({ headers: responseHeaders }) => {
        responseHeaders["sec-websocket-protocol"] ??= SUBPROTOCOL;
      });
      socket.once("unexpected-response", (request, { statusCode = 0, headers: { location } }) => {
        request.destroy();
        const isRedirect = statusCode >= 300 && statusCode < 400;
        const redirect = isRedirect ? followRedirect(statusCode, location, url) : undefined;
        reject(redirect instanceof HubError ? redirect : new HttpStatusError(statusCode, undefined));
      });
      socket.on("error", (error) => {
        reason ??= isTooLarge(error) ? tooLarge(maxMessageBytes) : failed(error);
        reject(reason);
      });
      socket.on("message", (data, isBinary) => {
        if (!isBinary && Buffer.isBuffer(data)) options.onMessage(data);
        const waitMs = options.pauseMs?.() ?? 0;
        if (waitMs === 0) return;
        socket.pause();
        setTimeout(() => socket.resume(), waitMs);
      });
      socket.once("open", () => {
        watchLiveness(socket, { pingMs, onSilent: () => void (isLive = false) });
        resolve(new WebSocketChannel(socket));
      });
      socket.once("close", (code) => options.onLost(reason ?? lost(code, isLive)));
    });
  }

  send(bytes: Buffer): void {
    const waiting = this.#socket.bufferedAmount;
    if (waiting + bytes.length > MAX_UNREAD_BYTES) {
      const message = "The server does not read what it is sent";
      throw new HubError("Overloaded", message, { detail: `${waiting} bytes wait` });
    }
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(bytes, { binary: false });
  }

  close(): Promise<void> {
    return closeSocket(this.#socket, 1000);
  }
}

/** The connection that a proxy has made for us, with TLS on it where the address wants that. */
async function tunnelTo(url: URL, { proxy, tls }: Route, timeoutMs: number): Promise<Socket | undefined> {
  if (proxy === undefined) return undefined;
  const isSecure = url.protocol === "wss:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const socket = await openTunnel({ proxy, host, port: Number(url.port) || (isSecure ? 443 : 80), timeoutMs });
  return isSecure ? connectTls({ socket, ...(isIP(host) === 0 ? { servername: host } : { host }), ...tls }) : socket;
}

function failed(error: Error): HubError {
  if (isUnreachable(error)) return broken(error, 0);
  const message = "The WebSocket connection failed";
  return new HubError("ConnectionFailed", message, { detail: error.message, delivery: "unknown", cause: error });
}

function lost(code: number, isLive: boolean): HubError {
  const message = isLive ? "The server closed the connection" : "The server no longer answers on its connection";
  return new HubError("ConnectionFailed", message, { detail: `WebSocket close code ${code}`, delivery: "unknown" });
}
