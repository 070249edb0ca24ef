// MCP over WebSocket, client side: one message per text frame.

import { isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { WebSocket } from "ws";
import { HubError } from "../../errors.ts";
import { openAuthorized, type Authorization } from "./authorization.ts";
import type { ConnectionOptions } from "./http-connection.ts";
import { toConnectionError, followRedirect, HttpStatusError, isUnreachable, tooLarge } from "./http-failure.ts";
import type { Channel } from "./peer.ts";
import type { RemoteRoute } from "./remote-route.ts";
import { openTunnel } from "./tunnel.ts";
import { closeSocket, isTooLarge, SUBPROTOCOL, watchLiveness } from "../rpc/websocket.ts";

export interface WebSocketChannelOptions extends ConnectionOptions {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Credentials for the first request. They win over `headers`. */
  readonly authorization?: Authorization | undefined;
  readonly maxMessageBytes: number;
  readonly pingMs?: number;
  onMessage(bytes: Buffer): void;
  onLost(error: HubError): void;
}

/** A server that has stopped reading must not fill the hub's memory. */
const MAX_UNREAD_BYTES = 32 << 20;

export class WebSocketChannel implements Channel {
  readonly #socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  /** Resolves when the connection is open. */
  static open(options: WebSocketChannelOptions): Promise<WebSocketChannel> {
    const open = (credentials: Readonly<Record<string, string>>) =>
      WebSocketChannel.#open({ ...options, headers: { ...options.headers, ...credentials } });
    return openAuthorized(options.authorization, open, { method: "GET", url: options.url });
  }

  static async #open(options: WebSocketChannelOptions): Promise<WebSocketChannel> {
    const { url, headers, maxMessageBytes, connectTimeoutMs, lookup, pingMs, route = {} } = options;
    const tunnel = await tunnelTo(url, route, connectTimeoutMs);
    const socket = new WebSocket(url, [SUBPROTOCOL], {
      headers,
      maxPayload: maxMessageBytes,
      handshakeTimeout: connectTimeoutMs,
      ...(lookup === undefined ? {} : { lookup }),
      ...route.tls,
      ...(tunnel === undefined ? {} : { createConnection: () => tunnel }),
      perMessageDeflate: false,
      // A redirect could send the credentials to another origin.
      followRedirects: false,
    });
    let reason: HubError | undefined;
    let isLive = true;
    return new Promise((resolve, reject) => {
      // `ws` fails if the server names no subprotocol, although it only has one. Another subprotocol still fails.
      socket.once("upgrade", ({ headers: responseHeaders }) => {
        responseHeaders["sec-websocket-protocol"] ??= SUBPROTOCOL;
      });
      socket.once("unexpected-response", (request, { statusCode = 0, headers: responseHeaders }) => {
        request.destroy();
        const { location } = responseHeaders;
        const isRedirect = statusCode >= 300 && statusCode < 400;
        const redirect = isRedirect ? followRedirect(statusCode, location, url) : undefined;
        const nonce = responseHeaders["dpop-nonce"];
        const challenge = {
          authenticate: responseHeaders["www-authenticate"],
          nonce: typeof nonce === "string" ? nonce : undefined,
        };
        reject(redirect instanceof HubError ? redirect : new HttpStatusError(statusCode, undefined, { challenge }));
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
      const message = "The server does not read its input";
      throw new HubError("Overloaded", message, { detail: `${waiting} bytes wait` });
    }
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(bytes, { binary: false });
  }

  close(): Promise<void> {
    return closeSocket(this.#socket, 1000);
  }
}

/** The tunnel through the proxy, if any, with TLS for `wss:`. */
async function tunnelTo(url: URL, { proxy, tls }: RemoteRoute, timeoutMs: number): Promise<Socket | undefined> {
  if (proxy === undefined) return undefined;
  const isSecure = url.protocol === "wss:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const socket = await openTunnel({ proxy, host, port: Number(url.port) || (isSecure ? 443 : 80), timeoutMs });
  return isSecure ? connectTls({ socket, ...(isIP(host) === 0 ? { servername: host } : { host }), ...tls }) : socket;
}

function failed(error: Error): HubError {
  if (isUnreachable(error)) return toConnectionError(error, 0);
  const message = "The WebSocket connection failed";
  return new HubError("ConnectionFailed", message, { detail: error.message, delivery: "unknown", cause: error });
}

function lost(code: number, isLive: boolean): HubError {
  const message = isLive ? "The server closed the connection" : "The server no longer answers on its connection";
  return new HubError("ConnectionFailed", message, { detail: `WebSocket close code ${code}`, delivery: "unknown" });
}
