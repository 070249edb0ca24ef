// The chat server over stdin and stdout: one client, of either protocol era. The SDK detects the era; the transport below
// adds `subscriptions/listen` for resources and the error codes of older revisions.

import type { JSONRPCMessage, Server, Transport } from "@modelcontextprotocol/server";
import { isJSONRPCErrorResponse, isJSONRPCNotification, isJSONRPCResultResponse } from "@modelcontextprotocol/server";
import { serveStdio as serve, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { Readable, Writable } from "node:stream";
import type { App } from "../app.ts";
import { Subscriptions } from "../live/subscriptions.ts";
import { startChannel } from "./channel.ts";
import { toProtocolError, withLegacyCode } from "./errors.ts";
import { startListen, type ActiveListen, type ListenOptions } from "./listen-request.ts";
import { ChatServers, notifyListChanges } from "./server.ts";

export interface StdioOptions {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Push new messages as `notifications/claude/channel`. */
  readonly channel: boolean;
}

export interface StdioEndpoint {
  /** Resolves when the client disconnects. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** The SDK server for the client, known once the SDK has detected the era. */
interface Connection {
  readonly server: Server;
  readonly isLegacy: boolean;
  readonly stopListChanges: () => void;
}

export function serveStdio(app: App, { stdin, stdout, channel }: StdioOptions): StdioEndpoint {
  const servers = new ChatServers(app, { channel });
  const onError = (error: unknown): void =>
    app.log(`warning: ${error instanceof Error ? error.message : String(error)}`);
  let connection: Connection | undefined;
  const subscriptions = new Subscriptions({
    reader: app.reader,
    feed: app.feed,
    notify: (update) =>
      void connection?.server
        .notification({ method: "notifications/resources/updated", params: { ...update } })
        .catch(onError),
    onError,
  });
  const transport = new ListenTransport(new StdioServerTransport(stdin, stdout), {
    subscriptions,
    toError: (thrown) => toProtocolError(thrown, app.reader.presenter, app.log),
    isLegacy: () => connection?.isLegacy ?? true,
  });
  const handle = serve(
    ({ era }) => {
      connection?.stopListChanges();
      const server = servers.create(subscriptions);
      connection = {
        server,
        isLegacy: era === "legacy",
        stopListChanges: notifyListChanges(app, server, onError),
      };
      return server;
    },
    { transport, onerror: onError },
  );
  const stopChannel = channel
    ? startChannel(app, (notification) => void transport.send(notification).catch(onError))
    : undefined;
  void transport.ended.then(() => {
    stopChannel?.();
    connection?.stopListChanges();
    subscriptions.close();
  });
  return { ended: transport.ended, close: () => handle.close() };
}

interface ListenTransportOptions extends ListenOptions {
  /** Whether outgoing errors need the codes of the revisions before 2026-07-28. */
  readonly isLegacy: () => boolean;
}

class ListenTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  readonly ended: Promise<void>;
  readonly #stdio: StdioServerTransport;
  readonly #options: ListenTransportOptions;
  readonly #listens = new Map<string | number, ActiveListen>();

  constructor(stdio: StdioServerTransport, options: ListenTransportOptions) {
    this.#stdio = stdio;
    this.#options = options;
    /* eslint-disable unicorn/prefer-add-event-listener -- the SDK's transport is not an event target */
    this.ended = new Promise((resolve) => {
      stdio.onclose = () => {
        resolve();
        this.onclose?.();
      };
    });
    stdio.onerror = (error) => this.onerror?.(error);
    stdio.onmessage = (message) => this.#receive(message);
    /* eslint-enable unicorn/prefer-add-event-listener */
  }

  start(): Promise<void> {
    return this.#stdio.start();
  }

  close(): Promise<void> {
    return this.#stdio.close();
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (isJSONRPCErrorResponse(message) || isJSONRPCResultResponse(message)) this.#endListen(message.id);
    return this.#stdio.send(this.#options.isLegacy() ? withLegacyCode(message) : message);
  }

  #receive(message: JSONRPCMessage): void {
    if (isJSONRPCNotification(message) && message.method === "notifications/cancelled") {
      const id = message.params?.["requestId"];
      if (typeof id === "string" || typeof id === "number") this.#endListen(id);
    }
    const listen = startListen(message, this.#options);
    if (listen === undefined) return this.onmessage?.(message);
    if (listen.status === "refused") {
      void this.#stdio.send(listen.answer).catch((error: Error) => this.onerror?.(error));
      return;
    }
    this.#listens.set(listen.id, listen);
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- the received message with a shorter list
    this.onmessage?.(listen.message as JSONRPCMessage);
  }

  #endListen(id: string | number | undefined): void {
    if (id === undefined) return;
    this.#listens.get(id)?.end();
    this.#listens.delete(id);
  }
}
