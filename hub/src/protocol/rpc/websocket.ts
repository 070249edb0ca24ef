// Shared by both sides of MCP over WebSocket: the subprotocol, keep-alive pings, and closing with a timeout.

import { WebSocket } from "ws";

export const SUBPROTOCOL = "mcp";

export interface LivenessOptions {
  readonly pingMs?: number | undefined;
  /** The connection is terminated right after. */
  readonly onSilent?: () => void;
}

const PING_MS = 30_000;
/** How long the peer may take to send its own close frame. */
const CLOSE_TIMEOUT_MS = 1000;

/** Pings while the connection is open, and terminates it when a ping interval passes without any frame. */
export function watchLiveness(socket: WebSocket, { pingMs = PING_MS, onSilent }: LivenessOptions = {}): void {
  let isAlive = true;
  const markAlive = () => {
    isAlive = true;
  };
  const timer = setInterval(() => {
    if (!isAlive) {
      onSilent?.();
      return socket.terminate();
    }
    isAlive = false;
    socket.ping();
  }, pingMs).unref();
  socket.on("pong", markAlive).on("message", markAlive).on("ping", markAlive);
  socket.once("close", () => clearInterval(timer));
}

/** Sends a close frame, and terminates the connection if the peer does not reply. Resolves when it is closed. */
export function closeSocket(socket: WebSocket, code: number, reason = ""): Promise<void> {
  if (socket.readyState === WebSocket.CLOSED) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS);
    socket.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
    socket.close(code, reason);
  });
}

/** Whether a frame was larger than allowed. The library has closed the connection already. */
export function isTooLarge(error: Error): boolean {
  return "code" in error && error.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH";
}
