// Decides which requests are upgrades to WebSocket, and answers those that are refused.

import { IncomingMessage, ServerResponse } from "node:http";
import { errorCode } from "@plugboard/shared/error-code";

/**
 * A request for which only WebSocket is an upgrade. With an "upgrade" listener Node treats every Upgrade header as one and does not read
 * the body: a client that offers HTTP/2 with each POST, as Java's does, would get no response.
 */
export class Incoming extends IncomingMessage {
  /** Decided once: Node reads it again later, when earlier responses may have ended. */
  #isUpgrade: boolean | undefined;
  /** The client's address behind trusted proxies. */
  forwardedAddress: string | undefined;

  get upgrade(): boolean {
    return (this.#isUpgrade ??= asksForWebSocket(this) && isFree(this));
  }

  /** Ignores Node's value. */
  set upgrade(_: boolean | null) {}
}

export function asksForWebSocket({ method, headers: { connection = "", upgrade = "" } }: IncomingMessage): boolean {
  return method === "GET" && /\bupgrade\b/i.test(connection) && upgrade.toLowerCase() === "websocket";
}

/**
 * No earlier response is still being sent on the connection: WebSocket frames would start in the middle of it. Otherwise the request is
 * answered as an ordinary one, after the others.
 */
function isFree(request: IncomingMessage): boolean {
  const probe = new ServerResponse(request);
  try {
    probe.assignSocket(request.socket);
  } catch (error) {
    if (errorCode(error) === "ERR_HTTP_SOCKET_ASSIGNED") return false;
    throw error;
  }
  probe.detachSocket(request.socket);
  return true;
}

/** An HTTP response in place of an upgrade. It closes the connection. */
export function plainResponse(request: IncomingMessage): ServerResponse {
  const { socket } = request;
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once("finish", () => socket.end());
  return response;
}
