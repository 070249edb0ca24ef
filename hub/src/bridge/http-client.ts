// HTTP requests to one address over Node's client, with a pool of kept-alive connections. Follows redirects within the origin and
// uses the proxy, if there is one. Not undici, which the hub uses: a bridge with undici takes 10 MB more when idle.

import * as plainHttp from "node:http";
import type { Agent, ClientRequest, ClientRequestArgs, IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { HubError } from "../errors.ts";
import { errorCode } from "@plugboard/shared/error-code";
import {
  followRedirect,
  MAX_REDIRECTS,
  toConnectionError,
  tooManyRedirects,
} from "../protocol/connect/http-failure.ts";
import { proxyAuthorization } from "../protocol/connect/proxy.ts";
import { openTunnel, refusedByProxy, unreachableProxy } from "../protocol/connect/tunnel.ts";

export type Headers = Readonly<Record<string, string>>;

export interface HttpRequest {
  readonly method: "POST" | "GET" | "DELETE";
  readonly headers: Headers;
  readonly body?: Buffer | undefined;
}

/** Receives one response: its head, its body, and then either `onEnd` or `onError`. */
export interface ResponseHandler {
  onHead(status: number, headers: IncomingHttpHeaders): void;
  onBody(chunk: Buffer): void;
  onEnd(): void;
  onError(error: HubError): void;
}

export interface PendingRequest {
  /** Closes the connection. The handler gets this error, later. */
  abort(error: HubError): void;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** For a server that announces no timeout. Node's servers close a connection that was idle for 5 s. */
const IDLE_MS = 4000;
const MAX_IDLE_CONNECTIONS = 64;
const MAX_HEAD_BYTES = 64 << 10;
const SMALL_BYTES = 16 << 10;

export class HttpClient {
  readonly #url: URL;
  /** Over plain HTTP a proxy gets the requests themselves; for TLS it opens a tunnel. */
  readonly #forwardProxy: URL | undefined;
  readonly #proxyHeaders: Headers;
  /** The server or the forward proxy. */
  readonly #peer: { readonly host: string; readonly port: number | undefined };
  readonly #agent: Agent;
  readonly #request: typeof plainHttp.request;
  /** Connections that can carry requests: an error on any other one means that nothing was sent. */
  readonly #connected = new WeakSet<Socket>();
  readonly #pending = new Set<Pending>();
  #isPaused = false;

  constructor(url: URL, proxy?: URL) {
    this.#url = url;
    const isSecure = url.protocol === "https:";
    this.#forwardProxy = isSecure ? undefined : proxy;
    const authorization = this.#forwardProxy === undefined ? undefined : proxyAuthorization(this.#forwardProxy);
    this.#proxyHeaders = authorization === undefined ? {} : { "proxy-authorization": authorization };
    const { hostname, port } = this.#forwardProxy ?? url;
    this.#peer = { host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? undefined : Number(port) };
    // Loaded on demand: most hubs are on this machine, and TLS would delay every start.
    const http = isSecure ? process.getBuiltinModule("node:https") : plainHttp;
    this.#request = http.request;
    this.#agent = new http.Agent({ keepAlive: true, timeout: IDLE_MS, maxFreeSockets: MAX_IDLE_CONNECTIONS });
    if (isSecure && proxy !== undefined) useTunnel(this.#agent, proxy, url);
  }

  send(request: HttpRequest, handler: ResponseHandler): PendingRequest {
    const pending = new Pending({
      handler,
      url: this.#url,
      forwardProxy: this.#forwardProxy,
      isConnected: (socket) => this.#connected.has(socket),
      start: (url) => this.#start(request, url),
      onOver: () => this.#pending.delete(pending),
    });
    this.#pending.add(pending);
    if (this.#isPaused) pending.pause();
    return pending;
  }

  /** Stops reading, since the consumer of the responses cannot keep up. */
  pause(): void {
    this.#isPaused = true;
    for (const pending of this.#pending) pending.pause();
  }

  resume(): void {
    this.#isPaused = false;
    for (const pending of this.#pending) pending.resume();
  }

  /** Ends all connections without calling any handler. */
  close(): void {
    for (const pending of this.#pending) pending.discard();
    this.#agent.destroy();
  }

  #start({ method, headers, body }: HttpRequest, url: URL): ClientRequest {
    const { host, port } = this.#peer;
    const target = `${url.pathname}${url.search}`;
    const request = this.#request({
      agent: this.#agent,
      method,
      host,
      port,
      path: this.#forwardProxy === undefined ? target : url.origin + target,
      maxHeaderSize: MAX_HEAD_BYTES,
      headers: headerList({ host: url.host, ...headers, ...this.#proxyHeaders }, body),
    });
    request.once("socket", (socket) => this.#watchConnecting(request, socket));
    // A short text goes out in one write with the headers; a buffer would be a second one.
    if (body !== undefined && body.length < SMALL_BYTES) request.end(body.toString("latin1"), "latin1");
    else request.end(body);
    return request;
  }

  #watchConnecting(request: ClientRequest, socket: Socket): void {
    if (request.reusedSocket || this.#connected.has(socket)) return;
    const timer = setTimeout(() => request.destroy(new ConnectTimeout()), CONNECT_TIMEOUT_MS);
    socket.once(this.#url.protocol === "https:" ? "secureConnect" : "connect", () => {
      clearTimeout(timer);
      this.#connected.add(socket);
    });
    request.once("close", () => clearTimeout(timer));
  }
}

interface PendingOptions {
  readonly handler: ResponseHandler;
  readonly url: URL;
  readonly forwardProxy: URL | undefined;
  readonly isConnected: (socket: Socket) => boolean;
  start(url: URL): ClientRequest;
  onOver(): void;
}

/** One request, including those that follow from redirects. */
class Pending implements PendingRequest {
  readonly #options: PendingOptions;
  #request: ClientRequest;
  #response: IncomingMessage | undefined;
  #redirects = 0;
  #isPaused = false;
  #isOver = false;

  constructor(options: PendingOptions) {
    this.#options = options;
    this.#request = this.#send(options.url);
  }

  abort(error: HubError): void {
    if (this.#isOver) return;
    this.discard();
    queueMicrotask(() => this.#options.handler.onError(error));
  }

  /** Ends it without calling the handler. */
  discard(): void {
    this.#over();
    this.#request.destroy();
  }

  pause(): void {
    this.#isPaused = true;
    this.#response?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#response?.resume();
  }

  #send(url: URL): ClientRequest {
    return this.#options
      .start(url)
      .on("response", (response) => this.#receive(response, url))
      .on("error", (error) => this.#fail(error));
  }

  #receive(response: IncomingMessage, url: URL): void {
    if (this.#isOver) return;
    const { forwardProxy, handler } = this.#options;
    const { statusCode: status = 0, headers } = response;
    if (status === 407 && forwardProxy !== undefined) return this.abort(refusedByProxy(status, forwardProxy));
    if (status >= 300 && status <= 399) return this.#redirect(response, url);
    this.#response = response;
    handler.onHead(status, headers);
    response.on("data", (chunk: Buffer) => {
      if (!this.#isOver) handler.onBody(chunk);
    });
    response.once("end", () => this.#end(response));
    response.once("error", (error) => this.#fail(error));
    if (this.#isPaused) response.pause();
  }

  #redirect(response: IncomingMessage, from: URL): void {
    const to = followRedirect(response.statusCode ?? 0, response.headers.location, from);
    if (to instanceof HubError) return this.abort(to);
    if (this.#redirects++ >= MAX_REDIRECTS) return this.abort(tooManyRedirects());
    response.once("error", (error) => this.#fail(error));
    response.once("end", () => {
      if (!this.#isOver) this.#request = this.#send(to);
    });
    response.resume();
  }

  #end(response: IncomingMessage): void {
    if (this.#isOver || !response.complete) return;
    this.#over();
    this.#options.handler.onEnd();
  }

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.#over();
    const { forwardProxy, isConnected, handler } = this.#options;
    const { socket } = this.#request;
    const isUnsent = (socket === null || !isConnected(socket)) && !(error instanceof HubError);
    handler.onError(isUnsent ? unsent(error, forwardProxy) : interrupted(error, this.#response?.statusCode));
  }

  #over(): void {
    this.#isOver = true;
    this.#options.onOver();
  }
}

/** Node writes a list as it is, but sets the members of an object one by one first: 7 % of the CPU time of a small request. */
function headerList(headers: Headers, body: Buffer | undefined): string[] {
  const list: string[] = [];
  for (const [name, value] of Object.entries(headers)) list.push(name, value);
  if (body !== undefined) list.push("content-length", String(body.length));
  return list;
}

type OnCreate = (error: unknown, socket?: Duplex) => void;

/** Makes the agent open each connection through a tunnel of the proxy. */
function useTunnel(agent: Agent, proxy: URL, { hostname, port }: URL): void {
  const connect = agent.createConnection.bind(agent);
  const target = { host: hostname, port: Number(port) || 443 };
  // Assigned: the type of the method does not allow a socket that is only given to the callback, as Node's documentation does.
  Object.assign(agent, {
    createConnection: (options: ClientRequestArgs, onCreate: OnCreate) => {
      openTunnel({ proxy, ...target, timeoutMs: CONNECT_TIMEOUT_MS }).then((socket) => {
        // The TLS connection over it reports the same errors.
        socket.on("error", () => undefined);
        onCreate(null, connect(Object.assign(options, { socket })));
      }, onCreate);
    },
  });
}

class ConnectTimeout extends Error {
  readonly code = "ETIMEDOUT";
}

function unsent(error: Error, proxy: URL | undefined): HubError {
  if (proxy !== undefined) return unreachableProxy(error, proxy);
  return new HubError("ConnectionFailed", "The server cannot be reached", {
    detail: errorCode(error) ?? error.message,
    delivery: "unsent",
    cause: error,
  });
}

/** Failed after the connection was made. Codes with HPE_ are those of Node's HTTP parser. */
function interrupted(error: Error, status = 0): HubError {
  const code = errorCode(error);
  if (code?.startsWith("HPE_") !== true) return toConnectionError(error, status);
  const about = { detail: code, delivery: "unknown", cause: error } as const;
  return new HubError("ProtocolError", "The answer is not valid HTTP", about);
}
