// A load balancer that knows no sessions: each request goes to the next hub. One that refuses the connection is passed over.

import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { listen } from "./sockets.ts";

export interface PassedRequest {
  readonly method: string;
  readonly session: string | undefined;
  readonly target: string;
  readonly status: number;
}

export class RoundRobin {
  url = "";
  /** What has passed, by the time of its answer. */
  readonly passed: PassedRequest[] = [];
  readonly #targets: string[];
  readonly #server: Server;
  #next = 0;

  private constructor(targets: readonly string[]) {
    this.#targets = [...targets];
    this.#server = createServer((incoming, response) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("end", () => this.#pass(incoming, Buffer.concat(chunks), response, this.#targets.length));
    });
  }

  static async open(...targets: readonly string[]): Promise<RoundRobin> {
    const proxy = new RoundRobin(targets);
    proxy.url = `http://127.0.0.1:${await listen(proxy.#server)}`;
    return proxy;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #pass(incoming: IncomingMessage, body: Buffer, response: ServerResponse, left: number): void {
    const target = this.#targets[this.#next++ % this.#targets.length] ?? "";
    const { host: _, connection: __, ...headers } = incoming.headers;
    const { method = "" } = incoming;
    const outgoing = request(target + incoming.url, { method, headers, agent: false }, (answer) => {
      const session = headers["mcp-session-id"];
      this.passed.push({ method, session: session?.toString(), target, status: answer.statusCode ?? 0 });
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.on("error", () => response.destroy());
      answer.pipe(response);
    });
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED" && left > 1) return this.#pass(incoming, body, response, left - 1);
      response.destroy();
    });
    response.on("close", () => outgoing.destroy());
    outgoing.end(body);
  }
}
