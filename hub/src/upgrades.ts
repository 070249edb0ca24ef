// Which requests ask for another protocol on their connection, and how such a request is answered if it does not get it.

import { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

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
  get upgrade(): boolean {
    const { connection = "", upgrade = "" } = this.headers;
    return this.method === "GET" && /\bupgrade\b/i.test(connection) && upgrade.toLowerCase() === "websocket";
  }

  /** Node's own opinion, which is not asked. */
  set upgrade(_: boolean | null) {}
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
