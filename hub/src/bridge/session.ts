// The legacy session at the endpoint. Opened by the client's own handshake; where the endpoint has forgotten it, after a
// restart as a rule, another one is opened in the client's name, and the client is told to look again.

import { HubError } from "../errors.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import { readMessage, writeNotification, type Reply } from "../wire/jsonrpc.ts";
import { Announcements } from "./announcements.ts";
import type { Endpoint } from "./endpoint.ts";
import { Exchange } from "./exchange.ts";
import { toFields } from "./fields.ts";
import { Handshake } from "./handshake.ts";
import type { Headers } from "./response-reader.ts";

export interface SessionOptions {
  readonly endpoint: Endpoint;
  readonly initialize: Buffer;
  /** From the server, and of no request: what it says and asks by itself. */
  onMessage(bytes: Buffer): void;
  /** For the client, from us. */
  send(message: Buffer): void;
  /** It had to be opened again. */
  onReopened(): void;
}

const GOODBYE_MS = 1000;
/** It goes back in a header. */
const SESSION_ID = /^[\x21-\x7e]{1,1024}$/;

export class Session {
  readonly handshake: Handshake;
  readonly #options: SessionOptions;
  #id: string | undefined;
  #version: string | undefined;
  #fields = "";
  #announcements: Announcements | undefined;
  #reopening: Promise<void> | undefined;
  /** Requests of the client that another session took, and this one has not yet. */
  #refused: readonly Buffer[] = [];
  #ended = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.handshake = new Handshake(options.initialize);
  }

  /** As agreed; undefined before. */
  get version(): string | undefined {
    return this.#version;
  }

  /** Without an id of its own there is nothing that the endpoint could forget. */
  get isNamed(): boolean {
    return this.#id !== undefined;
  }

  /** The header lines that name it. */
  get fields(): string {
    return this.#fields;
  }

  /** The headers of the answer to `initialize`. */
  learnId(headers: Headers): void {
    const id = headers["mcp-session-id"];
    if (typeof id === "string" && SESSION_ID.test(id)) this.#agree(id, this.#version);
  }

  /** The answer to the client's own `initialize`. */
  answered(reply: Reply): void {
    if (!reply.ok || !isObject(reply.result.value)) return;
    this.handshake.answered(reply.result.value);
    this.#learnVersion(reply.result.value);
  }

  /** The client is ready: from now on the server may speak by itself. */
  listen(): void {
    if (this.#ended) return;
    this.#announcements?.stop();
    this.#announcements = new Announcements({
      endpoint: this.#options.endpoint,
      fields: this.#fields,
      onMessage: (bytes) => this.#options.onMessage(bytes),
      onForgotten: () => this.reopen(),
    });
  }

  /** Opens another one, once for all who ask for it at a time. */
  reopen(): Promise<void> {
    this.#reopening ??= this.#reopen().finally(() => {
      this.#reopening = undefined;
    });
    return this.#reopening;
  }

  /** While it is opened again, nothing can be sent in it. */
  get reopening(): Promise<void> | undefined {
    return this.#reopening;
  }

  /**
   * Says again what another session was told and this one was not. A hub that has only just started may not know the
   * resource yet, so this is tried again with every list that changes.
   */
  async restore(): Promise<void> {
    if (this.#refused.length === 0) return;
    // What the client has taken back meanwhile is not said again.
    const current = this.handshake.settings;
    const settings = this.#refused.filter((message) => current.includes(message));
    this.#refused = [];
    // One that is not taken is no reason to have no session.
    const replies = await Promise.all(settings.map((message) => this.#ask(message).catch(() => undefined)));
    this.#refused = [...this.#refused, ...settings.filter((_, index) => replies[index]?.ok !== true)];
  }

  /** Politely but briefly: where this does not arrive, the session ends by itself. */
  end(): Promise<void> {
    this.#ended = true;
    this.#announcements?.stop();
    if (this.#id === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      const impatient = setTimeout(resolve, GOODBYE_MS);
      const done = () => {
        clearTimeout(impatient);
        resolve();
      };
      this.#options.endpoint.dispatch(
        { method: "DELETE", fields: this.#fields },
        { onHead: () => undefined, onBody: () => undefined, onEnd: done, onError: done },
      );
    });
  }

  async #reopen(): Promise<void> {
    const { initialize, initialized, settings, listChanges } = this.handshake;
    const before = { id: this.#id, version: this.#version };
    this.#agree(undefined, undefined);
    try {
      const hello = await this.#ask(initialize, (headers) => this.learnId(headers));
      if (hello?.ok !== true || !isObject(hello.result.value)) throw refused(hello);
      this.#learnVersion(hello.result.value);
    } catch (error) {
      // Still what is to be replaced: the next attempt begins here again.
      this.#agree(before.id, before.version);
      throw error;
    }
    if (initialized === undefined) return;
    await this.#ask(initialized);
    this.#refused = settings;
    await this.restore();
    this.listen();
    for (const method of listChanges) this.#options.send(writeNotification(method, undefined));
    this.#options.onReopened();
  }

  #learnVersion({ protocolVersion }: JsonObject): void {
    if (typeof protocolVersion === "string" && SESSION_ID.test(protocolVersion)) this.#agree(this.#id, protocolVersion);
  }

  #agree(id: string | undefined, version: string | undefined): void {
    this.#id = id;
    this.#version = version;
    this.#fields = toFields({
      ...(version === undefined ? {} : { "mcp-protocol-version": version }),
      ...(id === undefined ? {} : { "mcp-session-id": id }),
    });
  }

  /** Posts a message of the client once more, without its knowledge. Gives the answer, where it has one. */
  #ask(bytes: Buffer, onHeaders: (headers: Headers) => void = () => undefined): Promise<Reply | undefined> {
    return new Promise((resolve, reject) => {
      let reply: Reply | undefined;
      const sender = {
        bytes,
        isOpen: false,
        onHeaders,
        onMessage: (came: Buffer) => {
          const message = readMessage(came, { lenient: true });
          if (message.kind === "response") reply = message.reply;
          else this.#options.onMessage(came);
        },
        onEnd: (error: HubError | undefined) => {
          if (reply !== undefined || error === undefined) resolve(reply);
          else reject(error);
        },
      };
      new Exchange(this.#options.endpoint, sender, { fields: this.#fields, isNamed: this.isNamed }).post();
    });
  }
}

function refused(reply: Reply | undefined): HubError {
  const error = reply?.ok === false && isObject(reply.error.value) ? reply.error.value["message"] : undefined;
  return new HubError("InitializationFailed", "The session was lost, and no new one could be opened", {
    ...(typeof error === "string" ? { detail: error } : {}),
    delivery: "refused",
  });
}
