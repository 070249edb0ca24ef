// The port at which the other hubs of a cluster reach this one. Whatever is not signed by one of them is refused.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { HubError } from "../errors.ts";
import { NodeResponse } from "../http/node-response.ts";
import type { PeerRequest } from "../mcp/session-routing.ts";
import { readWhole } from "../protocol/serve/http-request.ts";
import type { Requester } from "../protocol/serve/service.ts";
import { digestOf, PEER_HEADER, verifyClaims, type PeerClaims } from "./peer-auth.ts";
import type { PeerSettings } from "./peer-settings.ts";

const MIN_TLS = "TLSv1.2";
/** A session is not at the hub that was asked. */
export const NOT_HERE = 421;

export interface PeerListenerOptions {
  readonly settings: PeerSettings;
  /** The name of this hub. */
  readonly name: string;
  readonly key: Buffer;
  /** Returns false if the session is not here. */
  readonly onRequest: (request: PeerRequest) => Promise<boolean>;
}

export class PeerListener {
  /** For the other hubs. */
  readonly url: string;
  readonly #server: Server | TlsServer;

  private constructor(server: Server | TlsServer, url: string) {
    this.#server = server;
    this.url = url;
  }

  static async open(options: PeerListenerOptions): Promise<PeerListener> {
    const { host, port, url, tls } = options.settings;
    const answer = (request: IncomingMessage, response: ServerResponse) => receive(request, response, options);
    const server =
      tls === undefined
        ? createServer(answer)
        : process
            .getBuiltinModule("node:https")
            .createServer({ cert: tls.cert, key: tls.key, minVersion: MIN_TLS }, answer);
    // The other hubs close what they do not use: a connection that closes while a request is sent would leave its outcome unknown.
    server.keepAliveTimeout = 0;
    // Streams are long; a hub that sends slowly is not a threat.
    server.requestTimeout = 0;
    await new Promise<void>((resolve, reject) => {
      server.once("error", (error: NodeJS.ErrnoException) => reject(listenError(error, host, port)));
      server.listen(port, host, resolve);
    });
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP listener has an address of this form
    const own = (server.address() as AddressInfo).port;
    const at = `${tls === undefined ? "http" : "https"}://${host.includes(":") ? `[${host}]` : host}:${own}`;
    return new PeerListener(server, url ?? at);
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }
}

function receive(
  request: IncomingMessage,
  nodeResponse: ServerResponse,
  { key, name, onRequest }: PeerListenerOptions,
): void {
  const response = new NodeResponse(nodeResponse);
  const { [PEER_HEADER]: header, ...headers } = request.headers;
  const claims = verifyClaims(key, header, name);
  if (claims === undefined || claims.method !== request.method) return response.send(401);
  readWhole(request, response, (whole) => {
    if (digestOf(whole.body) !== claims.digest) return response.send(401);
    const { session, endpoint } = claims;
    const address = { ...endpoint, exposure: endpoint.exposure };
    // The claims say which session is meant, not a header that is not signed.
    const signed = { ...whole, headers: { ...headers, "mcp-session-id": session } };
    const requester = claims.requester && new PeerRequester(claims.requester);
    onRequest({ session, address, request: signed, response, requester }).then(
      (isHere) => {
        if (!isHere) response.send(NOT_HERE);
      },
      () => response.send(503),
    );
  });
}

/** Its requests end with its access at the hub that it has reached. */
class PeerRequester implements Requester {
  readonly principal: string;
  readonly owner: string;
  readonly client: string | undefined;
  declare readonly clientName?: string;

  constructor({ principal, owner, client, clientName }: NonNullable<PeerClaims["requester"]>) {
    this.principal = principal;
    this.owner = owner;
    this.client = client;
    if (clientName !== undefined) this.clientName = clientName;
  }

  onceEnded(): () => void {
    return () => undefined;
  }
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): HubError {
  const kind = error.code === "EADDRINUSE" ? "PortInUse" : "IoError";
  return new HubError(kind, `Cannot listen for other hubs on ${host}:${port}`, {
    detail: error.code ?? error.message,
    hint: "Choose another address: cluster.listen in hub.json",
    cause: error,
  });
}
