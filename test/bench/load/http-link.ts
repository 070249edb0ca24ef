// Streamable HTTP in both eras: legacy sessions, or modern requests that carry everything.

import type { Era } from "../upstreams/server.ts";
import { headerOf, HttpConnection, type HttpAnswer } from "./http-connection.ts";
import { resultOf, sessionsFor, type Lane, type Link } from "./link.ts";
import { idOf, Ids, INITIALIZED, initializeCall, jsonOf, Message, type Call } from "./message.ts";

export interface HttpLinkOptions {
  readonly era: Era;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

const LEGACY_VERSION = "2025-06-18";
const MODERN_VERSION = "2026-07-28";
const OPENERS = 8;

export class HttpLink implements Link {
  readonly #url: URL;
  readonly #era: Era;
  readonly #headers: string;
  readonly #ids = new Ids();
  /** The header lines that identify the session of a request. */
  readonly #sessions: string[] = [];

  constructor(url: string, { era, headers = {} }: HttpLinkOptions) {
    this.#url = new URL(url);
    this.#era = era;
    this.#headers = Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("");
  }

  async ask(call: Call): Promise<Readonly<Record<string, unknown>>> {
    await this.openSessions(1);
    const connection = new HttpConnection(this.#url);
    try {
      return resultOf((await this.#post(connection, call, this.#sessions[0])).body);
    } finally {
      connection.close();
    }
  }

  async lanes(calls: readonly Call[], { count }: { readonly count: number }): Promise<Lane[]> {
    const sessions = sessionsFor(count);
    await this.openSessions(sessions);
    return Array.from({ length: count }, (_, index) => {
      const session = this.#sessions[index % sessions] ?? "";
      const messages = calls.map(
        (call) => new Message(call, this.#era, (json) => this.#head(session, call, json) + json),
      );
      return new HttpLane(new HttpConnection(this.#url), messages, { ids: this.#ids, first: index });
    });
  }

  async openSessions(count: number): Promise<void> {
    const wanted = count - this.#sessions.length;
    if (wanted <= 0) return;
    if (this.#era === "modern") return void this.#sessions.push(...Array.from({ length: wanted }, () => ""));
    let left = wanted;
    const open = async () => {
      const connection = new HttpConnection(this.#url);
      try {
        while (left-- > 0) this.#sessions.push(await this.#openSession(connection));
      } finally {
        connection.close();
      }
    };
    await Promise.all(Array.from({ length: Math.min(OPENERS, wanted) }, open));
  }

  close(): void {
    this.#sessions.length = 0;
  }

  async #openSession(connection: HttpConnection): Promise<string> {
    const { head, body } = await this.#post(connection, initializeCall(LEGACY_VERSION), "");
    const version = String(resultOf(body)["protocolVersion"]);
    const session = `mcp-session-id: ${headerOf(head, "mcp-session-id") ?? ""}\r\nmcp-protocol-version: ${version}\r\n`;
    await connection.ask(this.#head(session, undefined, INITIALIZED) + INITIALIZED);
    return session;
  }

  async #post(connection: HttpConnection, call: Call, session = ""): Promise<HttpAnswer> {
    const id = this.#ids.next();
    const json = jsonOf(call, this.#era, id);
    const answer = await connection.ask(this.#head(session, call, json) + json);
    if (answer.status !== 200) throw new Error(`${call.method}: HTTP ${answer.status}`);
    if (idOf(answer.body) !== id) throw wrongId(answer.body);
    return answer;
  }

  #head(session: string, call: Call | undefined, json: string): string {
    const { host, pathname } = this.#url;
    const modern = this.#era === "modern" && call !== undefined ? modernHeaders(call) : "";
    return (
      `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n` +
      `accept: application/json, text/event-stream\r\n${session}${modern}${this.#headers}` +
      `content-length: ${Buffer.byteLength(json)}\r\n\r\n`
    );
  }
}

export function modernHeaders({ method, params }: Call): string {
  const name = typeof params["name"] === "string" ? `mcp-name: ${params["name"]}\r\n` : "";
  return `mcp-protocol-version: ${MODERN_VERSION}\r\nmcp-method: ${method}\r\n${name}`;
}

function wrongId(answer: Buffer): Error {
  return new Error(`The answer to another request: ${answer.toString("utf8", 0, 300)}`);
}

class HttpLane implements Lane {
  readonly #connection: HttpConnection;
  readonly #messages: readonly Message[];
  readonly #ids: Ids;
  #turn: number;

  constructor(connection: HttpConnection, messages: readonly Message[], { ids, first }: { ids: Ids; first: number }) {
    this.#connection = connection;
    this.#messages = messages;
    this.#ids = ids;
    this.#turn = first;
  }

  call(onAnswer: (answer: Buffer) => void, onFailure: (error: Error) => void): void {
    const message = this.#messages[this.#turn++ % this.#messages.length];
    if (message === undefined) return onFailure(new Error("A lane without requests"));
    const id = this.#ids.next();
    const take = ({ body }: HttpAnswer) => (idOf(body) === id ? onAnswer(body) : onFailure(wrongId(body)));
    this.#connection.send(message.withId(id), take, onFailure);
  }

  close(): void {
    this.#connection.close();
  }
}
