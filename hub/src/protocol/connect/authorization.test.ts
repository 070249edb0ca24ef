// Credentials that change while a connection is open, over all three transports, with small real servers that accept one token.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { HubError } from "../../errors.ts";
import { listen } from "../../../../test/support/sockets.ts";
import type { Authorization, Refusal } from "./authorization.ts";
import { HttpChannel } from "./http-client.ts";
import { Peer } from "./peer.ts";
import { SseChannel } from "./sse-client.ts";
import { WebSocketChannel } from "./ws-client.ts";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** Tokens `t0`, `t1` …: a refusal leads to the next one, until `last`. */
class Tokens implements Authorization {
  generation = 0;
  readonly isPerRequest = false;
  readonly refusals: Refusal[] = [];
  readonly nonces: string[] = [];
  readonly #last: number;
  readyError: HubError | undefined;

  constructor(last: number) {
    this.#last = last;
  }

  ready(): Promise<void> | undefined {
    return this.readyError === undefined ? undefined : Promise.reject(this.readyError);
  }

  headersFor(): Record<string, string> {
    return { authorization: `Bearer t${this.generation}` };
  }

  onNonce(nonce: string): void {
    this.nonces.push(nonce);
  }

  async refused(refusal: Refusal): Promise<void> {
    this.refusals.push(refusal);
    if (refusal.generation !== this.generation) return;
    if (this.generation === this.#last) throw new HubError("LoginRequired", "No further token");
    this.generation++;
  }
}

const replyTo = (body: string) => {
  const { id }: { id?: number } = JSON.parse(body);
  return JSON.stringify({ jsonrpc: "2.0", id, result: {} });
};

/** Accepts one token. A refusal has a JSON-RPC body that names the request, as some servers send it. */
async function serve(
  token: string,
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void,
) {
  const seen: string[] = [];
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      seen.push(`${request.method} ${request.headers.authorization}`);
      bodies.push(body);
      if (request.headers.authorization === `Bearer ${token}`) return answer(request, response, body);
      response.setHeader("www-authenticate", ['Basic realm="x"', 'Bearer scope="read"']);
      response.writeHead(401, { "content-type": "application/json" });
      response.end(
        body === ""
          ? ""
          : JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(body).id, error: { code: 1, message: "no" } }),
      );
    });
  });
  const port = await listen(server);
  cleanups.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { server, seen, bodies, url: new URL(`http://127.0.0.1:${port}/mcp`) };
}

function openHttp(url: URL, authorization: Authorization) {
  const channel: HttpChannel = new HttpChannel({
    url,
    headers: {},
    authorization,
    maxMessageBytes: 1 << 20,
    connectTimeoutMs: 5000,
    onMessage: (bytes, via) => peer.receive(bytes, via),
    isWaiting: (id) => peer.isWaiting(id),
    onFinished: (id, why) => {
      if (peer.isWaiting(id)) peer.failRequest(id, why());
    },
    onUnreachable: () => undefined,
  });
  const peer = new Peer(channel, {
    onNotification: () => undefined,
    onRequest: () => undefined,
  });
  cleanups.push(() => channel.close());
  return { channel, peer };
}

const ping = (peer: Peer, signal?: AbortSignal) =>
  peer.request("ping", () => undefined, { timeoutMs: 10_000, ...(signal === undefined ? {} : { signal }) });

describe("AU-1 Streamable HTTP", () => {
  const accept = (_: IncomingMessage, response: ServerResponse, body: string) =>
    response.writeHead(200, { "content-type": "application/json" }).end(replyTo(body));

  it("a refused request is sent again with the next credentials, and the others use them at once", async () => {
    const { url, seen } = await serve("t1", accept);
    const tokens = new Tokens(1);
    const { peer } = openHttp(url, tokens);
    expect(await ping(peer)).toMatchObject({ ok: true });
    expect(await ping(peer)).toMatchObject({ ok: true });
    expect(seen).toEqual(["POST Bearer t0", "POST Bearer t1", "POST Bearer t1"]);
    expect(tokens.refusals[0]?.error.challenge?.authenticate).toBe('Basic realm="x", Bearer scope="read"');
  });

  it("A15 requests that were refused together lead to one change", async () => {
    const { url } = await serve("t1", accept);
    const tokens = new Tokens(1);
    const { peer } = openHttp(url, tokens);
    const replies = await Promise.all(Array.from({ length: 20 }, () => ping(peer)));
    expect(replies.every(({ ok }) => ok)).toBe(true);
    expect(tokens.generation).toBe(1);
  });

  it("the reason why there are no better credentials is the error of the request", async () => {
    const { url, seen } = await serve("t9", accept);
    const { peer } = openHttp(url, new Tokens(1));
    await expect(ping(peer)).rejects.toMatchObject({ kind: "LoginRequired" });
    expect(seen).toHaveLength(2);
  });

  it("a server that is never satisfied ends after four attempts", async () => {
    const { url, seen } = await serve("t99", accept);
    const { peer } = openHttp(url, new Tokens(50));
    await expect(ping(peer)).rejects.toMatchObject({ kind: "Unauthenticated", status: 401 });
    expect(seen).toHaveLength(4);
  });

  it("nothing is sent while there can be no credentials", async () => {
    const { url, seen } = await serve("t0", accept);
    const tokens = new Tokens(0);
    tokens.readyError = new HubError("ConnectionFailed", "Cannot be renewed now", { delivery: "unsent" });
    const { peer } = openHttp(url, tokens);
    await expect(ping(peer)).rejects.toMatchObject({ kind: "ConnectionFailed", delivery: "unsent" });
    expect(seen).toEqual([]);
  });

  it("a request that was cancelled meanwhile is not sent again", async () => {
    const { url, bodies } = await serve("t1", accept);
    const cancel = new AbortController();
    const tokens = new Tokens(1);
    const refused = tokens.refused.bind(tokens);
    tokens.refused = async (refusal) => {
      cancel.abort();
      await refused(refusal);
    };
    const { peer } = openHttp(url, tokens);
    await expect(ping(peer, cancel.signal)).rejects.toMatchObject({ kind: "Cancelled" });
    expect(await ping(peer)).toMatchObject({ ok: true });
    const ids = bodies.filter((body) => body.includes('"ping"')).map((body) => JSON.parse(body).id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("the stream for unsolicited messages is opened with the next credentials too", async () => {
    const { url, seen } = await serve("t1", (_, response) => response.writeHead(405).end());
    const { channel } = openHttp(url, new Tokens(1));
    expect(await channel.listen()).toBe(405);
    expect(seen).toEqual(["GET Bearer t0", "GET Bearer t1"]);
  });
});

describe("AU-1 HTTP+SSE", () => {
  it("stream and messages are sent again with the next credentials", async () => {
    let stream: ServerResponse | undefined;
    const { url, seen } = await serve("t1", (request, response, body) => {
      if (request.method === "GET") {
        stream = response.writeHead(200, { "content-type": "text/event-stream" });
        stream.write("event: endpoint\ndata: /messages\n\n");
        return;
      }
      response.writeHead(202).end();
      stream?.write(`event: message\ndata: ${replyTo(body)}\n\n`);
    });
    const tokens = new Tokens(1);
    let peer: Peer | undefined;
    const channel = await SseChannel.open({
      url,
      headers: {},
      authorization: tokens,
      maxMessageBytes: 1 << 20,
      connectTimeoutMs: 5000,
      endpointTimeoutMs: 5000,
      onMessage: (bytes) => peer?.receive(bytes),
      onRefused: (id, error) => peer?.failRequest(id, error),
      onLost: () => undefined,
    });
    cleanups.push(() => channel.close());
    peer = new Peer(channel, { onNotification: () => undefined, onRequest: () => undefined });
    expect(await ping(peer)).toMatchObject({ ok: true });
    // As if the token of the stream had expired.
    tokens.generation = 0;
    expect(await ping(peer)).toMatchObject({ ok: true });
    expect(seen).toEqual(["GET Bearer t0", "GET Bearer t1", "POST Bearer t1", "POST Bearer t0", "POST Bearer t1"]);
  });
});

describe("AU-1 WebSocket", () => {
  it("the connection is opened with the next credentials", async () => {
    const seen: (string | undefined)[] = [];
    const server = createServer();
    const sockets = new WebSocketServer({
      server,
      verifyClient: ({ req }, done) => {
        seen.push(req.headers.authorization);
        done(req.headers.authorization === "Bearer t1", 401, undefined, { "www-authenticate": "Bearer" });
      },
    });
    const port = await listen(server);
    cleanups.push(async () => {
      sockets.close();
      await new Promise((resolve) => server.close(resolve));
    });
    const tokens = new Tokens(1);
    const channel = await WebSocketChannel.open({
      url: new URL(`ws://127.0.0.1:${port}/`),
      headers: {},
      authorization: tokens,
      maxMessageBytes: 1 << 20,
      connectTimeoutMs: 5000,
      onMessage: () => undefined,
      onLost: () => undefined,
    });
    cleanups.push(() => channel.close());
    expect(seen).toEqual(["Bearer t0", "Bearer t1"]);
    expect(tokens.refusals[0]?.error.challenge?.authenticate).toBe("Bearer");
  });
});
