// What both sides of MCP over WebSocket share: the name of the subprotocol, and how a connection ends.

import { WebSocket } from "ws";

export const SUBPROTOCOL = "mcp";

/** For the peer's own close frame. */
const CLOSE_MS = 1000;

/** Says goodbye, and cuts the connection if the peer does not. Resolves when it is gone. */
export function closeSocket(socket: WebSocket, code: number, reason = ""): Promise<void> {
  if (socket.readyState === WebSocket.CLOSED) return Promise.resolve();
  return new Promise((resolve) => {
    const impatient = setTimeout(() => socket.terminate(), CLOSE_MS);
    socket.once("close", () => {
      clearTimeout(impatient);
      resolve();
    });
    socket.close(code, reason);
  });
}

/** Whether a frame was larger than allowed. The library has closed the connection then. */
export function isTooLarge(error: Error): boolean {
  return "code" in error && error.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH";
}
