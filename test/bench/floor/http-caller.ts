// Requests to one HTTP server over plain keep-alive sockets: one socket per open call.

import { headerOf, HttpConnection } from "../load/http-connection.ts";
import { modernHeaders } from "../load/http-link.ts";
import type { Era } from "../upstreams/server.ts";

export class HttpCaller {
  readonly #url: URL;
  readonly #era: Era;
  readonly #idle: HttpConnection[] = [];
  #session = "";

  constructor(url: string, era: Era) {
    this.#url = new URL(url);
    this.#era = era;
  }

  /** Posts a message. Resolves to the answer without the framing of an event. `name` is the name of the called tool. */
  post(json: string, { method, name }: { readonly method: string; readonly name?: string }): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const connection = this.#idle.pop() ?? new HttpConnection(this.#url);
      const modern = this.#era === "modern" ? modernHeaders({ method, params: { name } }) : "";
      const head =
        `POST ${this.#url.pathname} HTTP/1.1\r\nhost: ${this.#url.host}\r\ncontent-type: application/json\r\n` +
        `accept: application/json, text/event-stream\r\n${this.#session}${modern}` +
        `content-length: ${Buffer.byteLength(json)}\r\n\r\n`;
      connection.send(
        head + json,
        (answer) => {
          if (connection.isOpen) this.#idle.push(connection);
          const session = this.#session === "" ? headerOf(answer.head, "mcp-session-id") : undefined;
          if (session !== undefined) this.#session = `mcp-session-id: ${session}\r\n`;
          resolve(withoutEvent(answer.body));
        },
        reject,
      );
    });
  }
}

function withoutEvent(body: Buffer): Buffer {
  if (body.length === 0 || body[0] === 0x7b) return body;
  const from = body.indexOf("{", body.indexOf("data:"));
  return body.subarray(from, body.indexOf("\n", from));
}
