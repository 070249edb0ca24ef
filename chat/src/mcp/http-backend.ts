// The chat server over HTTP for clients that see the same: modern requests are stateless, older clients have sessions, which clients of
// another backend cannot use.

import { createMcpHandler, isLegacyRequest, type McpHttpHandler } from "@modelcontextprotocol/server";
import type { App } from "../app.ts";
import { Subscriptions } from "../live/subscriptions.ts";
import { limitBacklog } from "./bounded-stream.ts";
import { toProtocolError } from "./errors.ts";
import { startListen, type ListenOptions } from "./listen-request.ts";
import { ChatServers } from "./server.ts";
import { Sessions } from "./sessions.ts";

/** Backlog of a client that does not read; beyond it, the stream is closed. */
const MAX_WAITING = 1000;

export class HttpBackend {
  readonly #modern: McpHttpHandler;
  readonly #sessions: Sessions;
  readonly #subscriptions: Subscriptions;
  readonly #toError: ListenOptions["toError"];
  readonly #stopListChanges: () => void;

  constructor(app: App, onError: (error: unknown) => void) {
    const servers = new ChatServers(app);
    this.#sessions = new Sessions(app, servers);
    this.#modern = createMcpHandler(() => servers.create(), { legacy: "reject" });
    this.#toError = (thrown) => toProtocolError(thrown, app.reader.presenter, app.log);
    this.#stopListChanges = app.listChanges.listen((kind) =>
      this.#modern.bus.publish({ kind: `${kind}_list_changed` }),
    );
    this.#subscriptions = new Subscriptions({
      reader: app.reader,
      feed: app.feed,
      onError,
      notify: ({ uri, _meta }) => this.#modern.bus.publish({ kind: "resource_updated", uri, params: { _meta } }),
    });
  }

  /** A request without a body, of an older client. */
  handleSession(request: Request): Promise<Response> {
    return this.#sessions.handle(request, undefined);
  }

  async handle(request: Request, parsedBody: unknown): Promise<Response> {
    if (await isLegacyRequest(request, parsedBody)) return this.#sessions.handle(request, parsedBody);
    const listen = startListen(parsedBody, { subscriptions: this.#subscriptions, toError: this.#toError });
    if (listen === undefined) return this.#modern.fetch(request, { parsedBody });
    if (listen.status === "refused") return Response.json(listen.answer);
    const response = await this.#modern.fetch(request, { parsedBody: listen.message });
    return limitBacklog(response, { limit: MAX_WAITING, onEnd: () => listen.end() });
  }

  /** Ends its sessions and streams. */
  async close(): Promise<void> {
    this.#subscriptions.close();
    this.#stopListChanges();
    await Promise.all([this.#modern.close(), this.#sessions.close()]);
  }
}
