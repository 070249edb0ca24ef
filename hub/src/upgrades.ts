// Which requests ask for another protocol on their connection, and how such a request is answered if it does not get it.

import { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { errorCode } from "./atomic.ts";

/** Takes over the connection of a request if it is its own; otherwise the next one is asked. */
export type UpgradeEdge = (request: IncomingMessage, socket: Duplex, parts: UpgradeParts) => boolean;

interface UpgradeParts {
  /** What the client sent after its request. */
  readonly head: Buffer;
  /** For an answer in place of the upgrade. */
  readonly response: () => ServerResponse;
}

/**
 * A request of which only a WebSocket is an upgrade. Node takes them all for one as soon as somebody listens, and then no
 * longer reads their body: a client that offers HTTP/2 with each POST, as Java's does, would get no answer.
 */
export class Incoming extends IncomingMessage {
  /** Once decided it stays: Node asks again, when the answers before it may have ended. */
  #isUpgrade: boolean | undefined;

  get upgrade(): boolean {
    return (this.#isUpgrade ??= asksForWebSocket(this) && isFree(this));
  }

  /** Node's own opinion, which is not asked. */
  set upgrade(_: boolean | null) {}
}

export function asksForWebSocket({ method, headers: { connection = "", upgrade = "" } }: IncomingMessage): boolean {
  return method === "GET" && /\bupgrade\b/i.test(connection) && upgrade.toLowerCase() === "websocket";
}

/**
 * Whether nothing that was asked before it is still being answered on its connection: the other protocol would begin in the
 * middle of that. Such a request is an ordinary one, and is answered in its turn.
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

/** An ordinary answer to a request for an upgrade; the connection ends with it. */
export function plainResponse(request: IncomingMessage): ServerResponse {
  const { socket } = request;
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once("finish", () => socket.end());
  return response;
}
