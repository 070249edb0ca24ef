// The chat server over stdin and stdout: one client, either era. The SDK decides the era; between it and the pipe stands
// what it cannot do by itself.

import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { isJSONRPCErrorResponse, isJSONRPCNotification, isJSONRPCResultResponse } from "@modelcontextprotocol/server";
import { serveStdio as serve, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { Readable, Writable } from "node:stream";
import type { App } from "../app.ts";
import { Subscriptions } from "../live/subscriptions.ts";
import { startChannel } from "./channel.ts";
import { withLegacyCode } from "./legacy-code.ts";
import { beginListen, type Listen } from "./listen.ts";
import { ChatServers } from "./server.ts";

export interface StdioOptions {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Push new messages as `notifications/claude/channel`. */
  readonly channel: boolean;
}

export interface StdioEnd {
  /** The client has gone. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

export function serveStdio(app: App, { stdin, stdout, channel }: StdioOptions): StdioEnd {
  const servers = new ChatServers(app, { channel });
  const wire = new Wire(new StdioServerTransport(stdin, stdout));
  const onError = (error: unknown): void =>
    app.log(`warning: ${error instanceof Error ? error.message : String(error)}`);
  const handle = serve(
    ({ era }) => {
      const server = servers.create(wire.subscriptions);
      wire.era = era;
      wire.notify = (update) =>
        void server.notification({ method: "notifications/resources/updated", params: { ...update } }).catch(onError);
      return server;
    },
    { transport: wire, onerror: onError },
  );
  wire.subscriptions = new Subscriptions({
    reader: app.reader,
    feed: app.feed,
    notify: (update) => wire.notify(update),
    onError,
  });
  const stopChannel = channel
    ? startChannel(app, (notification) => void wire.send(notification).catch(onError))
    : undefined;
  void wire.ended.then(() => {
    stopChannel?.();
    wire.subscriptions?.close();
  });
  return { ended: wire.ended, close: () => handle.close() };
}

/** The pipe, with an eye on what goes through it. */
class Wire implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  readonly ended: Promise<void>;
  subscriptions: Subscriptions | undefined;
  era: "legacy" | "modern" = "legacy";
  notify: (update: { readonly uri: string; readonly _meta: Readonly<Record<string, unknown>> }) => void = () =>
    undefined;
  readonly #pipe: StdioServerTransport;
  readonly #listens = new Map<string | number, Listen>();

  constructor(pipe: StdioServerTransport) {
    this.#pipe = pipe;
    /* eslint-disable unicorn/prefer-add-event-listener -- of the SDK, and no event target */
    this.ended = new Promise((resolve) => {
      pipe.onclose = () => {
        resolve();
        this.onclose?.();
      };
    });
    pipe.onerror = (error) => this.onerror?.(error);
    pipe.onmessage = (message) => this.#receive(message);
    /* eslint-enable unicorn/prefer-add-event-listener */
  }

  start(): Promise<void> {
    return this.#pipe.start();
  }

  close(): Promise<void> {
    return this.#pipe.close();
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (isJSONRPCErrorResponse(message) || isJSONRPCResultResponse(message)) this.#endListen(message.id);
    return this.#pipe.send(this.era === "legacy" ? withLegacyCode(message) : message);
  }

  #receive(message: JSONRPCMessage): void {
    if (isJSONRPCNotification(message) && message.method === "notifications/cancelled") {
      const id = message.params?.["requestId"];
      if (typeof id === "string" || typeof id === "number") this.#endListen(id);
    }
    const listen = this.subscriptions === undefined ? undefined : beginListen(message, this.subscriptions);
    if (listen === undefined) return this.onmessage?.(message);
    this.#listens.set(listen.id, listen);
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- the message that came, with a shorter list
    this.onmessage?.(listen.message as JSONRPCMessage);
  }

  #endListen(id: string | number | undefined): void {
    if (id === undefined) return;
    this.#listens.get(id)?.end();
    this.#listens.delete(id);
  }
}
