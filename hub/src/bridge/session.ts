// The legacy session at the endpoint, opened by the client's handshake. If the endpoint no longer knows it, usually after a
// restart, a new one is opened for the client, and the client is notified that the lists may have changed.

import type { IncomingHttpHeaders } from "node:http";
import { HubError } from "../errors.ts";
import { isObject, type JsonObject } from "../lib/json/json.ts";
import { readMessage, writeNotification, type Reply } from "../protocol/rpc/jsonrpc.ts";
import type { Endpoint } from "./endpoint.ts";
import { Exchange } from "./exchange.ts";
import { GetStream } from "./get-stream.ts";
import type { Headers } from "./http-client.ts";
import { SessionReplay } from "./session-replay.ts";

export interface SessionOptions {
  readonly endpoint: Endpoint;
  readonly initialize: Buffer;
  /** A message of the server that belongs to no request. */
  onMessage(bytes: Buffer): void;
  /** Sends a message of the bridge itself to the client. */
  send(message: Buffer): void;
  onReopened(): void;
}

const DELETE_TIMEOUT_MS = 1000;
/** Visible ASCII: these values are sent back in headers. */
const HEADER_VALUE = /^[\x21-\x7e]{1,1024}$/;

export class Session {
  readonly replay: SessionReplay;
  readonly #options: SessionOptions;
  #id: string | undefined;
  #version: string | undefined;
  #headers: Headers = {};
  #stream: GetStream | undefined;
  #reopening: Promise<void> | undefined;
  /** Settings of the client that the current session has not accepted yet. */
  #pendingSettings: readonly Buffer[] = [];
  #hasEnded = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.replay = new SessionReplay(options.initialize);
  }

  /** The negotiated revision; undefined before the answer to `initialize`. */
  get version(): string | undefined {
    return this.#version;
  }

  /** Undefined if the server uses no session id. */
  get hasId(): boolean {
    return this.#id !== undefined;
  }

  /** The headers that name the session. */
  get headers(): Headers {
    return this.#headers;
  }

  /** Takes the session id from the response to `initialize`. */
  learnId(headers: IncomingHttpHeaders): void {
    const id = headers["mcp-session-id"];
    if (typeof id === "string" && HEADER_VALUE.test(id)) this.#identify(id, this.#version);
  }

  /** Takes the answer to the client's own `initialize`. */
  initialized(reply: Reply): void {
    if (!reply.ok || !isObject(reply.result.value)) return;
    this.replay.noteInitializeResult(reply.result.value);
    this.#learnVersion(reply.result.value);
  }

  /** Opens the GET stream. */
  listen(): void {
    if (this.#hasEnded) return;
    this.#stream?.stop();
    this.#stream = new GetStream({
      endpoint: this.#options.endpoint,
      headers: this.#headers,
      onMessage: (bytes) => this.#options.onMessage(bytes),
      onSessionLost: () => this.reopen(),
    });
  }

  /** Opens another session; concurrent calls share one attempt. */
  reopen(): Promise<void> {
    this.#reopening ??= this.#reopen().finally(() => {
      this.#reopening = undefined;
    });
    return this.#reopening;
  }

  /** Messages of the session have to wait for this. */
  get reopening(): Promise<void> | undefined {
    return this.#reopening;
  }

  /**
   * Sends the settings that the session has not accepted yet. A hub that has just started may not know a resource yet, so this
   * is repeated whenever a list changes.
   */
  async restore(): Promise<void> {
    if (this.#pendingSettings.length === 0) return;
    // The client may have unsubscribed in the meantime.
    const current = this.replay.settings;
    const settings = this.#pendingSettings.filter((message) => current.includes(message));
    this.#pendingSettings = [];
    const replies = await Promise.all(settings.map((message) => this.#request(message).catch(() => undefined)));
    this.#pendingSettings = [...this.#pendingSettings, ...settings.filter((_, index) => replies[index]?.ok !== true)];
  }

  /** Sends DELETE. Does not wait long for the answer: the endpoint ends idle sessions anyway. */
  end(): Promise<void> {
    this.#hasEnded = true;
    this.#stream?.stop();
    if (this.#id === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, DELETE_TIMEOUT_MS);
      const done = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#options.endpoint.send(
        { method: "DELETE", headers: this.#headers },
        { onHead: () => undefined, onBody: () => undefined, onEnd: done, onError: done },
      );
    });
  }

  async #reopen(): Promise<void> {
    const { initialize, initialized, settings, listChanges } = this.replay;
    const before = { id: this.#id, version: this.#version };
    this.#identify(undefined, undefined);
    try {
      const reply = await this.#request(initialize, (headers) => this.learnId(headers));
      if (reply?.ok !== true || !isObject(reply.result.value)) throw reopenFailed(reply);
      this.#learnVersion(reply.result.value);
    } catch (error) {
      // The lost session stays the current one, so that the next attempt starts from here.
      this.#identify(before.id, before.version);
      throw error;
    }
    if (initialized === undefined) return;
    await this.#request(initialized);
    this.#pendingSettings = settings;
    await this.restore();
    this.listen();
    for (const method of listChanges) this.#options.send(writeNotification(method, undefined));
    this.#options.onReopened();
  }

  #learnVersion({ protocolVersion }: JsonObject): void {
    if (typeof protocolVersion !== "string" || !HEADER_VALUE.test(protocolVersion)) return;
    this.#identify(this.#id, protocolVersion);
  }

  #identify(id: string | undefined, version: string | undefined): void {
    this.#id = id;
    this.#version = version;
    this.#headers = {
      ...(version === undefined ? {} : { "mcp-protocol-version": version }),
      ...(id === undefined ? {} : { "mcp-session-id": id }),
    };
  }

  /** Posts a message of the client again. The answer does not go to the client; undefined for a notification. */
  #request(
    bytes: Buffer,
    onHeaders: (headers: IncomingHttpHeaders) => void = () => undefined,
  ): Promise<Reply | undefined> {
    return new Promise((resolve, reject) => {
      let reply: Reply | undefined;
      void new Exchange(this.#options.endpoint, {
        bytes,
        headers: this.#headers,
        inSession: this.hasId,
        isOpen: () => false,
        onHeaders,
        onMessage: (received) => {
          const message = readMessage(received, { lenient: true });
          if (message.kind === "response") reply = message.reply;
          else this.#options.onMessage(received);
        },
        onEnd: (error) => {
          if (reply !== undefined || error === undefined) resolve(reply);
          else reject(error);
        },
      });
    });
  }
}

function reopenFailed(reply: Reply | undefined): HubError {
  const error = reply?.ok === false && isObject(reply.error.value) ? reply.error.value["message"] : undefined;
  return new HubError("InitializationFailed", "The session was lost, and no new one could be opened", {
    ...(typeof error === "string" ? { detail: error } : {}),
    delivery: "refused",
  });
}
