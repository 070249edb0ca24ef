// The hub's TCP listener: refuses requests from web pages and other hosts, then passes each request to the edge that owns its path.

import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { Server as TlsServer } from "node:https";
import { isIP, type AddressInfo } from "node:net";
import { TrustedProxies } from "./client-address.ts";
import type { Duplex } from "node:stream";
import { HttpFailure } from "./problem.ts";
import { sendProblem } from "./send-problem.ts";
import { identify } from "./request-id.ts";
import type { ConnectionLimit } from "./dropped-connections.ts";
import { HubError } from "../errors.ts";
import { isLoopbackHost } from "../lib/loopback.ts";
import { FileDescriptors } from "../lib/files/file-descriptors.ts";
import { StallDetector } from "../lib/stall-detector.ts";
import type { WholeRequest } from "../protocol/serve/http-request.ts";
import type { HttpResponse } from "../protocol/serve/http-response.ts";
import { asksForWebSocket, Incoming, plainResponse } from "./upgrades.ts";
import { FastPathFront } from "./fast-path/front.ts";
import { SiteRules, type Site } from "./site-rules.ts";

/** A part of the hub that serves some paths. Each function returns false, without any effect, for a path of another edge. */
export interface Edge {
  (request: IncomingMessage, response: ServerResponse): boolean;
  /** Takes over the connection of a WebSocket request. */
  upgrade?(request: IncomingMessage, socket: Duplex, parts: UpgradeParts): boolean;
  /** Answers an ordinary POST that the fast path has read. Tried before all edges. `source`: the address of the client. */
  fast?(request: WholeRequest, response: HttpResponse, source: string): boolean;
}

export interface UpgradeParts {
  /** Bytes that the client sent after its request. */
  readonly head: Buffer;
  /** Creates the response for a request that is refused. */
  readonly response: () => ServerResponse;
}

export interface ListenerOptions extends Site {
  readonly host: string;
  readonly port: number;
  /** Other machines may reach it: who calls this has made sure that it is safe. */
  readonly isExposed?: boolean | undefined;
  /** Serves https with this certificate, in PEM. */
  readonly tls?: TlsCertificate | undefined;
  /** Addresses and CIDR ranges of proxies whose X-Forwarded-For counts. */
  readonly trustedProxies?: readonly string[];
  readonly edges: readonly Edge[];
  /** False: Node's HTTP server reads all requests. */
  readonly fastPath?: boolean | undefined;
  readonly timeoutsMs?: Partial<ListenerTimeouts>;
  /** Called for each connection that is dropped because of a limit. */
  readonly onDrop?: (limit: ConnectionLimit) => void;
}

export interface TlsCertificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Timeouts for slow clients, in milliseconds. They do not apply to open streams. */
export interface ListenerTimeouts {
  /** Until all headers are received. */
  readonly headers: number;
  /** Until the whole request is received. */
  readonly request: number;
  /** Until a client stops sending after it has got its response. */
  readonly rest: number;
  /** Until a client reads more of a finished response. */
  readonly unread: number;
  /** Interval between two checks for slow requests. */
  readonly check: number;
}

const MIN_TLS = "TLSv1.2";
const MAX_SOCKETS = 2048;
/** Node silently drops further headers, and the Origin may be among them: such a request is refused. */
const MAX_HEADERS = 500;
const KEEP_ALIVE_MS = 60_000;
const CLOSE_TIMEOUT_MS = 2000;
const TIMEOUTS: ListenerTimeouts = { headers: 10_000, request: 12_000, rest: 5000, unread: 30_000, check: 1000 };

export class Listener {
  readonly #server: Server | TlsServer;
  readonly #host: string;
  readonly #scheme: "http" | "https";
  readonly #front: FastPathFront | undefined;
  #closed: Promise<void> | undefined;

  private constructor(server: Server | TlsServer, host: string, front: FastPathFront | undefined) {
    this.#server = server;
    this.#scheme = "setSecureContext" in server ? "https" : "http";
    this.#host = host;
    this.#front = front;
  }

  static async open(given: ListenerOptions): Promise<Listener> {
    const { host, port, edges, fastPath = true, onDrop = () => undefined } = given;
    if (given.isExposed !== true) requireLoopback(host);
    const rules = new SiteRules(given.tls === undefined ? "http" : "https", given);
    const timeoutsMs = { ...TIMEOUTS, ...given.timeoutsMs };
    const { trustedProxies = [] } = given;
    const proxies = trustedProxies.length === 0 ? undefined : new TrustedProxies(trustedProxies);
    const server = createFor(given.tls, timeoutsMs, (request, response) => {
      if (proxies !== undefined) noteClient(request, proxies);
      endSlowExchange(request, response, timeoutsMs);
      // A WebSocket request before the end of an earlier response; Node has dropped the bytes that followed it.
      if (asksForWebSocket(request)) response.shouldKeepAlive = false;
      const refusal = refuse(request, rules);
      if (refusal !== undefined) return answer(request, response, refusal);
      if (rules.answerOrigin(request, response)) return;
      if (edges.some((edge) => edge(request, response))) return;
      answer(request, response, { status: 404, message: "There is nothing at this address" });
    });
    server.on("upgrade", (request, socket, head) => {
      // Ignore socket errors until an edge installs its own handler.
      socket.on("error", () => undefined);
      if (proxies !== undefined) noteClient(request, proxies);
      const response = () => plainResponse(request);
      const refusal = refuse(request, rules);
      if (refusal !== undefined) return answer(request, response(), refusal);
      if (edges.some((edge) => edge.upgrade?.(request, socket, { head, response }) === true)) return;
      answer(request, response(), { status: 404, message: "There is no WebSocket at this address" });
    });
    const front = fastPath ? openFastPath(server, { edges, rules, timeoutsMs, proxies }) : undefined;
    server.keepAliveTimeout = KEEP_ALIVE_MS;
    setTimeouts(server, timeoutsMs);
    limitConnections(server, onDrop);
    server.maxHeadersCount = MAX_HEADERS;
    await new Promise<void>((resolve, reject) => {
      server.once("error", (error: NodeJS.ErrnoException) => reject(listenError(error, host, port)));
      server.listen(port, host, resolve);
    });
    return new Listener(server, host, front);
  }

  get port(): number {
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP listener has an address of this form
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    const { port } = this;
    return `${this.#scheme}://${isIP(this.#host) === 6 ? `[${this.#host}]` : this.#host}:${port}`;
  }

  /** Replaces the certificate for new connections. */
  renew({ cert, key }: TlsCertificate): void {
    if ("setSecureContext" in this.#server) this.#server.setSecureContext({ cert, key, minVersion: MIN_TLS });
  }

  /** Takes no new connections. Open requests continue, and their connections close after them. */
  drain(): void {
    this.#closed ??= new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeIdleConnections();
    this.#front?.drain();
  }

  /** Drains, and waits for open requests for 2 s. Streams must have been ended before. */
  async close(): Promise<void> {
    this.drain();
    const forceClose = setTimeout(() => {
      this.#server.closeAllConnections();
      this.#front?.destroy();
    }, CLOSE_TIMEOUT_MS);
    await this.#closed;
    clearTimeout(forceClose);
  }
}

interface FastPathParts {
  readonly edges: readonly Edge[];
  readonly rules: SiteRules;
  readonly timeoutsMs: ListenerTimeouts;
  readonly proxies: TrustedProxies | undefined;
}

/** A request that has to be refused is not handled here: Node's server gets it, and refuses it. */
function openFastPath(server: Server, { edges, rules, timeoutsMs, proxies }: FastPathParts): FastPathFront | undefined {
  const { headers, unread } = timeoutsMs;
  const fast = edges.filter((edge) => edge.fast !== undefined);
  if (fast.length === 0) return undefined;
  const onRequest = (request: WholeRequest, response: HttpResponse, peer: string) => {
    if (rules.problem(request) !== undefined || rules.isListedOrigin(request)) return false;
    const source = proxies === undefined ? peer : clientOf(peer, request, proxies);
    return fast.some((edge) => edge.fast?.(request, response, source) === true);
  };
  const { strictTransport } = rules;
  return new FastPathFront(server, onRequest, {
    timeoutsMs: { headers, unread, idle: KEEP_ALIVE_MS },
    headers: strictTransport === undefined ? "" : `strict-transport-security: ${strictTransport}\r\n`,
  });
}

/** Node reads the limit for each new connection. One connection is always accepted, so that `plugboard status` can work. */
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
  // No descriptor is left at all. Without a listener this error would end the process.
  server.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (code === "EMFILE" || code === "ENFILE") noDescriptors();
  });
}

/**
 * Node reads these whenever it checks for slow requests, which comes before it reads input: after a stall of the process (a
 * suspended laptop) it would refuse requests that have arrived completely.
 */
function setTimeouts(server: Server, { check, headers, request }: ListenerTimeouts): void {
  const stalls = new StallDetector({ everyMs: check, stallMs: headers / 2, mostMs: request });
  Object.defineProperties(server, {
    headersTimeout: { get: () => (stalls.hasJustStalled() ? 0 : headers) },
    requestTimeout: { get: () => (stalls.hasJustStalled() ? 0 : request) },
  });
}

/**
 * Disconnects a client that keeps sending after its response, or does not read it. Not at once: closing a connection in the
 * middle of a request can lose the response.
 */
function endSlowExchange(request: IncomingMessage, response: ServerResponse, timeoutsMs: ListenerTimeouts): void {
  const { socket } = request;
  response.once("prefinish", () => {
    if (!response.writableFinished) socket.setTimeout(timeoutsMs.unread);
  });
  response.once("finish", () => {
    if (request.complete) return;
    const timer = setTimeout(() => socket.destroy(), timeoutsMs.rest);
    request.once("close", () => clearTimeout(timer));
    socket.once("close", () => clearTimeout(timer));
  });
}

function requireLoopback(host: string): void {
  if (isLoopbackHost(host)) return;
  throw new HubError("InvalidArgument", `Refused to listen on ${host}: it is reachable from other machines`, {
    field: "host",
    hint: "Use 127.0.0.1",
  });
}

function createFor(tls: TlsCertificate | undefined, { check, headers }: ListenerTimeouts, onRequest: RequestListener) {
  const options = { connectionsCheckingInterval: check, IncomingMessage: Incoming };
  if (tls === undefined) return createServer(options, onRequest);
  const { cert, key } = tls;
  // Loaded on demand: most hubs have no TLS.
  return process
    .getBuiltinModule("node:https")
    .createServer(
      { ...options, cert, key, minVersion: MIN_TLS, ALPNProtocols: ["http/1.1"], handshakeTimeout: headers },
      onRequest,
    );
}

function noteClient(request: IncomingMessage, proxies: TrustedProxies): void {
  if (request instanceof Incoming) {
    request.forwardedAddress = clientOf(request.socket.remoteAddress ?? "", request, proxies);
  }
}

/** A proxy may send the header in several lines, which Node joins. */
function clientOf(peer: string, { headers }: Pick<IncomingMessage, "headers">, proxies: TrustedProxies): string {
  const chain = headers["x-forwarded-for"];
  return proxies.clientOf(peer, Array.isArray(chain) ? chain.join() : chain);
}

/** Refuses what no edge should see. */
function refuse(request: IncomingMessage, rules: SiteRules): Refusal | undefined {
  if (request.rawHeaders.length >= 2 * MAX_HEADERS) {
    return { status: 431, message: `Too many headers: a request must have fewer than ${MAX_HEADERS}` };
  }
  if (count("host", request.rawHeaders) !== 1) return { status: 400, message: "One Host header is needed" };
  // Of two, Node keeps the first, and a proxy in front may have checked the second.
  if (count("authorization", request.rawHeaders) > 1) {
    return { status: 400, message: "Only one Authorization header is allowed" };
  }
  if (request.url?.startsWith("/") !== true) return { status: 400, message: "The request must name a path" };
  return rules.problem(request);
}

/** `rawHeaders` has alternating names and values. */
function count(header: string, rawHeaders: readonly string[]): number {
  let found = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === header.length && name.toLowerCase() === header) found++;
  }
  return found;
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
    return new HubError("PortInUse", `Port ${port} on ${host} is already in use`, { hint, cause: error });
  }
  return new HubError("IoError", `Cannot listen on ${host}:${port}`, {
    detail: error.code ?? error.message,
    cause: error,
  });
}
