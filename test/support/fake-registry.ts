// A registry with the API of the official one (v0.1) on loopback. The test chooses its servers, and how it fails.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { listen } from "./sockets.ts";

type Document = Readonly<Record<string, unknown>>;

/** How the next answers are; a number is an HTTP status. */
type Mood = "well" | number | "malformed" | "truncated" | "html" | "another list";

export class FakeRegistry {
  /** Newest first. */
  servers: Document[] = [];
  mood: Mood = "well";
  delayMs = 0;
  pageSize = 2;
  readonly asked: string[] = [];
  readonly authorizations: (string | undefined)[] = [];
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  url = "";

  static async open(servers: readonly Document[] = []): Promise<FakeRegistry> {
    const registry = new FakeRegistry();
    registry.servers = [...servers];
    registry.url = `http://127.0.0.1:${await listen(registry.#server)}`;
    return registry;
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.url);
    this.asked.push(url.pathname + url.search);
    this.authorizations.push(request.headers.authorization);
    if (this.delayMs > 0) await sleep(this.delayMs);
    const { mood } = this;
    if (typeof mood === "number") {
      response.writeHead(mood, mood === 429 ? { "retry-after": "7" } : {}).end("{}");
      return;
    }
    if (mood === "html") return void response.writeHead(200, { "content-type": "text/html" }).end("<html>");
    if (mood === "another list") return void response.end(JSON.stringify({ servers: "none" }));
    const body = JSON.stringify(this.#body(url) ?? null);
    if (body === "null") return void response.writeHead(404).end('{"error":"not found"}');
    if (mood === "truncated") {
      response.writeHead(200, { "content-length": String(body.length) });
      response.write(body.slice(0, body.length / 2));
      return void response.destroy();
    }
    response.setHeader("content-type", "application/json");
    response.end(mood === "malformed" ? body.slice(1) : body);
  }

  #body({ pathname, searchParams }: URL): unknown {
    const one = /^\/v0\.1\/servers\/([^/]+)\/versions\/([^/]+)$/.exec(pathname);
    if (one !== null) {
      const [name, version] = [decodeURIComponent(one[1] ?? ""), decodeURIComponent(one[2] ?? "")];
      return this.servers
        .map(wrapped)
        .find(({ server }) => server["name"] === name && (version === "latest" || server["version"] === version));
    }
    if (pathname !== "/v0.1/servers") return undefined;
    const word = (searchParams.get("search") ?? "").toLowerCase();
    const since = searchParams.get("updated_since") ?? "";
    const found = this.servers
      .map(wrapped)
      .filter(({ server }) => String(server["name"]).toLowerCase().includes(word))
      .filter(({ _meta }) => String(Object(Object.values(Object(_meta))[0])["updatedAt"] ?? "9") >= since);
    const begin = Number(searchParams.get("cursor") ?? 0);
    const page = found.slice(begin, begin + this.pageSize);
    const end = begin + page.length;
    return {
      servers: page,
      metadata: { count: page.length, ...(end < found.length ? { nextCursor: String(end) } : {}) },
    };
  }
}

/** As a registry answers with a server.json. */
function wrapped(document: Document): { server: Document; _meta: unknown } {
  const { _meta = {}, ...server } = document;
  return { server, _meta };
}

export const META = "io.modelcontextprotocol.registry/official";

/** A server.json with one npm package. */
export function npmServer(name: string, fields: Document = {}, version = "1.0.0"): Document {
  const identifier = `@example/${name.slice(name.lastIndexOf("/") + 1)}`;
  return {
    name,
    description: `What ${name} does`,
    version,
    packages: [{ registryType: "npm", identifier, version, transport: { type: "stdio" }, ...fields }],
  };
}
