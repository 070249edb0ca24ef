// Finds out that the other end of a WebSocket is gone though nobody said so: by pings that get no answer.

import type { WebSocket } from "ws";

export interface LivenessOptions {
  readonly pingMs?: number | undefined;
  /** The connection is cut right after. */
  readonly onSilent?: () => void;
}

const PING_MS = 30_000;

/** Pings for as long as the connection is open. Any frame counts as a sign of life. */
export function watchLiveness(socket: WebSocket, { pingMs = PING_MS, onSilent }: LivenessOptions = {}): void {
  let isHeard = true;
  const heard = () => {
    isHeard = true;
  };
  const timer = setInterval(() => {
    if (!isHeard) {
      onSilent?.();
      return socket.terminate();
    }
    isHeard = false;
    socket.ping();
  }, pingMs).unref();
  socket.on("pong", heard).on("message", heard).on("ping", heard);
  socket.once("close", () => clearInterval(timer));
}
