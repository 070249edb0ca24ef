// The hub's one TCP listener: says who may talk to it at all, then hands each request to the edge that owns its path.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { isIP, type AddressInfo } from "node:net";
import { HttpFailure } from "./api/problem.ts";
import { sendProblem } from "./api/refusal.ts";
import { identify } from "./api/request-id.ts";
import type { ConnectionLimit } from "./dropped-connections.ts";
import { HubError } from "./errors.ts";
import { FileDescriptors } from "./file-descriptors.ts";
import { Lenience } from "./lenience.ts";
import { asksForWebSocket, Incoming, plainResponse, type UpgradeEdge } from "./upgrades.ts";
import type { QuickRequest } from "./wire/quick-connection.ts";
import { QuickFront } from "./wire/quick-front.ts";
import type { QuickResponse } from "./wire/quick-response.ts";

/** Answers a request if it is its own; otherwise the next one is asked. */
export type Edge = (request: IncomingMessage, response: ServerResponse) => boolean;

/** The same for an ordinary POST, which is asked before all others. Whoever says no has done nothing with it. */
export type QuickEdge = (request: QuickRequest, response: QuickResponse) => boolean;

export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly edges: readonly Edge[];
  readonly quick?: QuickEdge | undefined;
  readonly upgrades?: readonly UpgradeEdge[];
  readonly patience?: Partial<Patience>;
  /** Told of each connection that is turned away; its client only sees that it was closed. */
  readonly onDrop?: (limit: ConnectionLimit) => void;
}

/** How long slow clients are waited for, in milliseconds. An open stream is not affected. */
export interface Patience {
  /** For all headers of a request. */
  readonly headers: number;
  /** For all of a request. */
  readonly request: number;
  /** For what a client goes on sending after it has its answer. */
  readonly rest: number;
  /** For a client to read more of a finished answer. */
  readonly unread: number;
  /** How often slow requests are looked for. */
  readonly check: number;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;
const MAX_SOCKETS = 2048;
/** Node drops what comes after so many, and says nothing: the Origin may be among them. */
const MAX_HEADERS = 500;
const KEEP_ALIVE_MS = 60_000;
const PATIENCE: Patience = { headers: 10_000, request: 12_000, rest: 5000, unread: 30_000, check: 1000 };

export class Listener {
  readonly #server: Server;
  readonly #host: string;
  readonly #front: QuickFront | undefined;
  #closed: Promise<void> | undefined;

  private constructor(server: Server, host: string, front: QuickFront | undefined) {
    this.#server = server;
    this.#host = host;
    this.#front = front;
  }

  static async open(given: ListenerOptions): Promise<Listener> {
    const { host, port, edges, quick, upgrades = [], patience = {}, onDrop = () => undefined } = given;
    requireLoopback(host);
    const waitMs = { ...PATIENCE, ...patience };
    const options = { connectionsCheckingInterval: waitMs.check, IncomingMessage: Incoming };
    const server = createServer(options, (request, response) => {
      endSlowExchange(request, response, waitMs);
      // It came too early for one, and Node has dropped whatever came in one piece with it.
      if (asksForWebSocket(request)) response.shouldKeepAlive = false;
      const refusal = refuse(request);
      if (refusal !== undefined) return answer(request, response, refusal);
      if (edges.some((edge) => edge(request, response))) return;
      answer(request, response, { status: 404, message: "There is nothing at this address" });
    });
    server.on("upgrade", (request, socket, head) => {
      // Whoever takes it over has its own eyes on it; until then a client that leaves is no news.
      socket.on("error", () => undefined);
      const response = () => plainResponse(request);
      const refusal = refuse(request);
      if (refusal !== undefined) return answer(request, response(), refusal);
      if (upgrades.some((edge) => edge(request, socket, { head, response }))) return;
      answer(request, response(), { status: 404, message: "There is no WebSocket at this address" });
    });
    const front = quick && openFront(server, quick, waitMs);
    server.keepAliveTimeout = KEEP_ALIVE_MS;
    setTimeouts(server, waitMs);
    limitConnections(server, onDrop);
    server.maxHeadersCount = MAX_HEADERS;
    await new Promise<void>((resolve, reject) => {
      server.once("error", (error: NodeJS.ErrnoException) => reject(listenError(error, host, port)));
      server.listen(port, host, resolve);
    });
    return new Listener(server, host, front);
  }

  get url(): string {
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP listener has an address of this form
    const { port } = this.#server.address() as AddressInfo;
    return `http://${isIP(this.#host) === 6 ? `[${this.#host}]` : this.#host}:${port}`;
  }

  /** Takes no new connection; requests under way go on, and their connections end with them. */
  drain(): void {
    this.#closed ??= new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeIdleConnections();
    this.#front?.drain();
  }

  /** Drains, and waits for the rest. Streams must have been ended before. */
  async close(): Promise<void> {
    this.drain();
    const impatient = setTimeout(() => {
      this.#server.closeAllConnections();
      this.#front?.destroy();
    }, 2000);
    await this.#closed;
    clearTimeout(impatient);
  }
}

/** What would be refused is Node's to refuse. */
function openFront(server: Server, quick: QuickEdge, { headers, unread }: Patience): QuickFront {
  return new QuickFront(server, (request, response) => hostProblem(request) === undefined && quick(request, response), {
    headers,
    unread,
    idle: KEEP_ALIVE_MS,
  });
}

/** Node asks for the limit at each new connection. One is always let in, for `plugboard status` to have a chance. */
function limitConnections(server: Server, onDrop: (limit: ConnectionLimit) => void): void {
  const descriptors = new FileDescriptors();
  let isFull = false;
  Object.defineProperty(server, "maxConnections", {
    get: () => {
      isFull = !descriptors.hasRoom();
      return isFull ? 1 : MAX_SOCKETS;
    },
  });
  const noDescriptors = () => onDrop({ kind: "descriptors", limit: descriptors.limit });
  server.on("drop", () => (isFull ? noDescriptors() : onDrop({ kind: "connections", limit: MAX_SOCKETS })));
  // Where not even the last descriptor is left. Without somebody who listens it would end the hub.
  server.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (code === "EMFILE" || code === "ENFILE") noDescriptors();
  });
}

/**
 * Node looks at them whenever it looks for slow requests. That comes before it reads: when the hub goes on after standing
 * still, it would turn away requests that lie there complete.
 */
function setTimeouts(server: Server, waitMs: Patience): void {
  const lenience = new Lenience({ everyMs: waitMs.check, stallMs: waitMs.headers / 2, mostMs: waitMs.request });
  Object.defineProperties(server, {
    headersTimeout: { get: () => (lenience.isDue() ? 0 : waitMs.headers) },
    requestTimeout: { get: () => (lenience.isDue() ? 0 : waitMs.request) },
  });
}

/**
 * Cuts off a client that has its answer and still sends, or does not read it. It may send some more: a connection that is
 * closed in the middle of a request takes the answer with it.
 */
function endSlowExchange(request: IncomingMessage, response: ServerResponse, waitMs: Patience): void {
  const { socket } = request;
  response.once("prefinish", () => {
    if (!response.writableFinished) socket.setTimeout(waitMs.unread);
  });
  response.once("finish", () => {
    if (request.complete) return;
    const impatient = setTimeout(() => socket.destroy(), waitMs.rest);
    request.once("close", () => clearTimeout(impatient));
    socket.once("close", () => clearTimeout(impatient));
  });
}

function requireLoopback(host: string): void {
  if (host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host)) return;
  throw new HubError("InvalidConfig", `Refused to listen on ${host}: it is reachable from other machines`, {
    field: "host",
    detail: "Access from other machines needs authentication, which this version does not have yet",
    hint: "Use --host 127.0.0.1, and an SSH tunnel to reach it from elsewhere",
  });
}

/**
 * Who may not talk to the hub. A web page in the user's browser can reach loopback: through a name of its own that
 * resolves to it (the Host header tells) or by a cross-origin request (the Origin header tells; where a page only embeds
 * an address, as an image, there is none, and Sec-Fetch-Site tells). The Host is matched as text, since URL parsers take
 * `evil@localhost` and `127.1` for loopback too.
 */
export function refuse(request: IncomingMessage): Refusal | undefined {
  if (request.rawHeaders.length >= 2 * MAX_HEADERS) {
    return { status: 431, message: `A request may have fewer than ${MAX_HEADERS} headers` };
  }
  if (countHosts(request.rawHeaders) !== 1) return { status: 400, message: "One Host header is needed" };
  if (request.url?.startsWith("/") !== true) return { status: 400, message: "The request must name a path" };
  return hostProblem(request);
}

function hostProblem({ headers, url }: Pick<IncomingMessage, "headers" | "url">): Refusal | undefined {
  const { host, origin } = headers;
  if (host === undefined || host === "") return { status: 400, message: "One Host header is needed" };
  if (!LOOPBACK.test(host)) return { status: 403, message: "This Host is not allowed" };
  if (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`) {
    return { status: 403, message: "This Origin is not allowed" };
  }
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none" && !isLink(headers, url)) {
    return { status: 403, message: "Pages of other sites may not use the hub" };
  }
  return undefined;
}

/** Somebody follows a link to the hub's front page, which does nothing and tells nothing. */
function isLink(headers: IncomingMessage["headers"], url: string | undefined): boolean {
  return url === "/" && headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
}

/** Names and values take turns. On the path of every request: nothing is made for it. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === "host") count++;
  }
  return count;
}

interface Refusal {
  readonly status: keyof typeof CODES;
  readonly message: string;
}

const CODES = { 400: "VALIDATION_ERROR", 403: "FORBIDDEN", 404: "NOT_FOUND", 431: "VALIDATION_ERROR" } as const;

function answer(request: IncomingMessage, response: ServerResponse, { status, message }: Refusal): void {
  sendProblem(response, new HttpFailure(status, CODES[status], message), identify(request, response));
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): HubError {
  if (error.code === "EADDRINUSE") {
    const hint = `Stop the other program, or choose another port: plugboard up --port ${port + 1}`;
    return new HubError("IoError", `Port ${port} on ${host} is already in use`, { hint, cause: error });
  }
  return new HubError("IoError", `Cannot listen on ${host}:${port}`, {
    detail: error.code ?? error.message,
    cause: error,
  });
}
