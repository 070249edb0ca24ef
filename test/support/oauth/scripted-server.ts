// An HTTP server on loopback that answers each path as a test says, and records what it was asked.

import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export interface ScriptedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The body as a form. */
  readonly form: URLSearchParams;
}

export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text, or what is sent as JSON. */
  readonly body?: unknown;
}

/** "reset": the connection is closed without an answer. "hang": no answer comes. */
export type Script = ScriptedAnswer | "reset" | "hang" | ((request: ScriptedRequest) => Script);

/** By path. A path that is not listed is answered with 404. */
export type Scripts = Record<string, Script>;

export class ScriptedServer {
  readonly requests: ScriptedRequest[] = [];
  scripts: Scripts = {};
  readonly #server = createServer((incoming, response) => {
    void buffer(incoming).then((bytes) => {
      const body = bytes.toString();
      const { method = "", url: path = "", headers } = incoming;
      const request = { method, path, headers, body, form: new URLSearchParams(body) };
      this.requests.push(request);
      let script: Script = this.scripts[path.split("?")[0] ?? ""] ?? { status: 404, body: "not found" };
      while (typeof script === "function") script = script(request);
      if (script === "hang") return;
      if (script === "reset") return void incoming.socket.resetAndDestroy();
      const text = typeof script.body === "string" ? script.body : JSON.stringify(script.body ?? {});
      response.writeHead(script.status ?? 200, { "content-type": "application/json", ...script.headers }).end(text);
    });
  });

  static async start(): Promise<ScriptedServer> {
    const server = new ScriptedServer();
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What was asked for, in order. */
  get paths(): string[] {
    return this.requests.map(({ path }) => path);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}
