// An OTLP collector that records its input: spans as JSON, and everything else as bytes.

import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { gunzipSync } from "node:zlib";
import { Messages } from "./streams.ts";
import { listen } from "./sockets.ts";

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: "SERVER" | "CLIENT";
  readonly flags: number;
  readonly durationNs: bigint;
  readonly attributes: Readonly<Record<string, string>>;
  readonly status: { readonly code: number; readonly message?: string };
  readonly resource: Readonly<Record<string, string>>;
}

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Collector {
  readonly url: string;
  readonly received: Received[];
  /** The answers to the next posts; the default is 200. */
  readonly statuses: number[];
  /** The spans of a trace, the outer one first; waits for the given number. */
  trace(traceId: string, count?: number): Promise<CollectedSpan[]>;
  /** Waits until there are more posts than the given number. */
  more(than: number): Promise<void>;
  /** Resolves when no client is connected. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const received: Received[] = [];
  const statuses: number[] = [];
  const posts = new Messages();
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { url = "", headers } = request;
    const body = headers["content-encoding"] === "gzip" ? gunzipSync(Buffer.concat(chunks)) : Buffer.concat(chunks);
    const status = statuses.shift() ?? 200;
    received.push({ path: url, headers, body });
    if (status === 200 && headers["content-type"] === "application/json") spans.push(...spansOf(body));
    response.writeHead(status, { "content-type": "application/json" }).end("{}");
    posts.push(status);
  };
  // The collector never closes an idle connection; the hub must do so.
  const server = createServer({ keepAliveTimeout: 3_600_000 }, (request, response) => void take(request, response));
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    statuses,
    trace: async (traceId, count = 2) => {
      for (;;) {
        const found = spans.filter((span) => span.traceId === traceId);
        if (found.length >= count) return found.toSorted((a, b) => b.kind.localeCompare(a.kind));
        await posts.more(posts.all.length);
      }
    },
    more: (than) => posts.more(than),
    idle: async () => {
      await Promise.all([...sockets].map((socket) => once(socket, "close")));
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

const KINDS = new Map([
  [2, "SERVER"],
  [3, "CLIENT"],
] as const);

function spansOf(body: Buffer): CollectedSpan[] {
  const { resourceSpans } = JSON.parse(body.toString());
  // eslint-disable-next-line typescript/no-explicit-any -- the form is OTLP's
  return resourceSpans.flatMap(({ resource, scopeSpans }: any) =>
    // eslint-disable-next-line typescript/no-explicit-any -- likewise
    scopeSpans.flatMap(({ spans }: any) =>
      // eslint-disable-next-line typescript/no-explicit-any -- likewise
      spans.map((span: any) => ({
        ...span,
        kind: KINDS.get(span.kind),
        durationNs: BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano),
        attributes: toRecord(span.attributes),
        resource: toRecord(resource.attributes),
      })),
    ),
  );
}

function toRecord(attributes: { key: string; value: { stringValue?: string; intValue?: string } }[]) {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? ""]));
}
