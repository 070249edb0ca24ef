// Whole responses on Node's ServerResponse.

import type { ServerResponse } from "node:http";
import type { HttpResponse, ResponseHeaders } from "../protocol/serve/http-response.ts";

/** A smaller body is sent as a latin1 string, in one write with the headers. A larger one is not copied. */
export const SMALL_BYTES = 16 << 10;
const NOTHING = Buffer.alloc(0);

export class NodeResponse implements HttpResponse {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  get isOver(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  send(status: number, headers: ResponseHeaders = {}, body: Buffer = NOTHING, prefix = "", suffix = ""): void {
    const response = this.#response;
    const length = prefix.length + body.length + suffix.length;
    if (length === 0) return void response.writeHead(status, headers).end();
    response.writeHead(status, { ...headers, "content-length": length });
    if (body.length < SMALL_BYTES) return void response.end(prefix + body.toString("latin1") + suffix, "latin1");
    response.cork();
    if (prefix !== "") response.write(prefix);
    response.write(body);
    response.end(suffix);
    response.uncork();
  }

  stream(): ServerResponse {
    return this.#response;
  }

  onceClosed(callback: () => void): void {
    this.#response.once("close", callback);
  }
}
