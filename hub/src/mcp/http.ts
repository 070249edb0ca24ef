// The MCP endpoints of all groups over HTTP: `/mcp` is the group `default`, `/mcp/{group}` any other.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Calls } from "../calls/call.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { toHubError } from "../errors.ts";
import type { Supervisor } from "../servers/supervisor.ts";
import { sendJson } from "../wire/http-answer.ts";
import { StreamableHttpServer } from "../wire/http-server.ts";
import { writeReply, type RawParams } from "../wire/jsonrpc.ts";
import { Endpoint } from "./endpoint.ts";
import { toReply } from "./failure.ts";

export interface McpHttpOptions {
  catalog(): Catalog;
  readonly calls: Calls;
  readonly supervisor: Supervisor;
}

const PATH = /^\/mcp(?:\/([^/?]+))?\/?(?:\?.*)?$/;

export class McpHttp {
  readonly #options: McpHttpOptions;
  /** Made when a group is first asked for. */
  readonly #groups = new Map<string, { readonly endpoint: Endpoint; readonly server: StreamableHttpServer }>();

  constructor(options: McpHttpOptions) {
    this.#options = options;
  }

  /** Whether the request was for this edge. */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const match = PATH.exec(request.url ?? "");
    if (match === null) return false;
    try {
      this.#group(decode(match[1])).server.handle(request, response);
    } catch (thrown) {
      const error = toHubError(thrown);
      sendJson(response, error.meaning.http, writeReply(null, toReply(error, "", "legacy")));
    }
    return true;
  }

  catalogChanged(): void {
    for (const { endpoint } of this.#groups.values()) endpoint.catalogChanged();
  }

  taskStatus(server: string, params: RawParams | undefined): void {
    for (const { endpoint } of this.#groups.values()) endpoint.taskStatus(server, params);
  }

  /** Ends every session and stream. */
  close(): void {
    for (const { endpoint, server } of this.#groups.values()) {
      endpoint.close();
      server.close();
    }
  }

  #group(name: string | undefined) {
    const { calls, supervisor } = this.#options;
    const group = () => this.#options.catalog().group(name);
    const key = group().name;
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const endpoint = new Endpoint({ group, calls, supervisor });
    const made = { endpoint, server: new StreamableHttpServer(endpoint) };
    this.#groups.set(key, made);
    return made;
  }
}

function decode(name: string | undefined): string | undefined {
  try {
    return name === undefined ? undefined : decodeURIComponent(name);
  } catch {
    return name; // not a valid escape: there is no such group either way
  }
}
