// Sends a request to another hub and streams its answer back to the client.

import {
  Agent,
  request as httpRequest,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from "node:http";
import { Chunks } from "@plugboard/shared/streams/chunks";
import { HubError } from "../errors.ts";
import type { RoutedRequest } from "../mcp/session-routing.ts";
import type { Requester } from "../protocol/serve/service.ts";
import { digestOf, PEER_HEADER, signClaims } from "./peer-auth.ts";
import { NOT_HERE } from "./peer-listener.ts";

/** Not by this hub: the address is that of another one, or the clocks differ. The caller has been authenticated before. */
const REFUSED = 401;
const CONNECT_MS = 2000;
const MAX_IDLE_SOCKETS = 32;
/** Headers of one connection, and those that are made anew. */
const OWN_HEADERS: ReadonlySet<string> = new Set(
  "connection content-length date expect host keep-alive te trailer transfer-encoding upgrade".split(" "),
);

/** gone: nothing listens at this address. silent: it cannot be reached, and nothing was sent. elsewhere: it has no such session. */
export type ForwardOutcome = "answered" | "elsewhere" | "gone" | "silent";

export interface Peer {
  readonly name: string;
  readonly url: string;
}

export class PeerClient {
  readonly #key: Buffer;
  readonly #ca: Buffer | undefined;
  #http: Agent | undefined;
  #https: Agent | undefined;

  /** `ca`: who has signed the certificates of the hubs, if not an authority that everyone trusts. */
  constructor({ key, ca }: { readonly key: Buffer; readonly ca: Buffer | undefined }) {
    this.#key = key;
    this.#ca = ca;
  }

  /** Resolves when the answer has begun, or there is none. */
  forward(peer: Peer, routed: RoutedRequest): Promise<ForwardOutcome> {
    const { request: whole, response, requester } = routed;
    return new Promise((resolve) => {
      const request = this.#open(peer, routed);
      let isConnected = request.reusedSocket;
      let answer: IncomingMessage | undefined;
      const release = requester?.onceEnded(() => request.destroy(new Error("The access of the caller has ended")));
      request.once("close", () => release?.());
      // A connection whose answer is complete may already serve another request.
      response.onceClosed(() => {
        if (answer?.complete !== true) request.destroy();
      });
      request.once("socket", (socket) => {
        if (request.reusedSocket || !socket.connecting) return void (isConnected = true);
        const timer = setTimeout(() => request.destroy(new Error("No connection in time")), CONNECT_MS);
        socket.once(this.#isSecure(peer) ? "secureConnect" : "connect", () => {
          isConnected = true;
          clearTimeout(timer);
        });
        request.once("close", () => clearTimeout(timer));
      });
      request.once("response", (received) => {
        answer = received;
        const { statusCode } = received;
        if (statusCode === NOT_HERE || statusCode === REFUSED) {
          received.resume();
          return resolve(statusCode === NOT_HERE ? "elsewhere" : "silent");
        }
        relay(answer, routed);
        resolve("answered");
      });
      request.on("error", (error: NodeJS.ErrnoException) => {
        if (answer !== undefined) return;
        if (!isConnected) return resolve(error.code === "ECONNREFUSED" ? "gone" : "silent");
        // Reading does nothing at the other hub.
        if (whole.method === "GET" && !response.isOver) return resolve("silent");
        if (!response.isOver) routed.fail(lost(peer));
        resolve("answered");
      });
      request.end(whole.body);
    });
  }

  close(): void {
    this.#http?.destroy();
    this.#https?.destroy();
  }

  #open(peer: Peer, { request, session, address, requester }: RoutedRequest): ClientRequest {
    const { method, body, url: path } = request;
    const claims = {
      to: peer.name,
      at: Date.now(),
      method,
      session,
      endpoint: { ...address },
      requester: requester && claimsOf(requester),
      digest: digestOf(body),
    };
    const headers = {
      ...endToEnd(request.headers),
      "content-length": body.length,
      [PEER_HEADER]: signClaims(this.#key, claims),
    };
    const { hostname, port } = new URL(peer.url);
    const options = { method, path, headers, port, host: hostname.replaceAll(/^\[|\]$/g, "") };
    const agentOptions = { keepAlive: true, maxFreeSockets: MAX_IDLE_SOCKETS, scheduling: "lifo" } as const;
    if (!this.#isSecure(peer)) {
      this.#http ??= new Agent(agentOptions);
      return httpRequest({ ...options, agent: this.#http });
    }
    const https = process.getBuiltinModule("node:https");
    this.#https ??= new https.Agent({ ...agentOptions, ...(this.#ca === undefined ? {} : { ca: this.#ca }) });
    return https.request({ ...options, agent: this.#https });
  }

  #isSecure({ url }: Peer): boolean {
    return url.startsWith("https:");
  }
}

function relay(answer: IncomingMessage, routed: RoutedRequest): void {
  const { response } = routed;
  const { statusCode: status = 502 } = answer;
  const headers = endToEnd(answer.headers);
  if (answer.headers["content-type"]?.startsWith("text/event-stream") === true) {
    const stream = response.stream();
    stream.writeHead(status, headers);
    stream.flushHeaders();
    answer.once("error", () => stream.destroy());
    answer.pipe(stream);
    return;
  }
  const body = new Chunks();
  answer.on("data", (chunk: Buffer) => body.add(chunk));
  answer.once("end", () => response.send(status, headers, body.take()));
  answer.once("error", () => {
    if (!response.isOver) routed.fail(lost({ name: "that owns the session" }));
  });
}

function endToEnd(headers: IncomingHttpHeaders): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !OWN_HEADERS.has(name)) kept[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return kept;
}

function claimsOf({ principal, owner, client, clientName }: Requester) {
  return { principal, owner, client, clientName };
}

function lost({ name }: Pick<Peer, "name">): HubError {
  return new HubError("ConnectionFailed", `The connection to the hub ${name} was lost: whether it has run is unknown`, {
    delivery: "unknown",
  });
}
