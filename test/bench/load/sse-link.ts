// HTTP+SSE of 2024-11-05, for a peer that offers nothing newer: requests are posted, answers arrive on the stream of the session.

import { connect, type Socket } from "node:net";
import { HttpConnection } from "./http-connection.ts";
import { resultOf, sessionsFor, type Lane, type Link } from "./link.ts";
import { Ids, INITIALIZED, initializeCall, jsonOf, Message, type Call } from "./message.ts";
import { Replies } from "./replies.ts";

interface Session {
  readonly stream: Socket;
  readonly replies: Replies;
  readonly endpoint: URL;
}

const EVENT_END = "\n\n";

export class SseLink implements Link {
  readonly #url: URL;
  readonly #ids = new Ids();
  readonly #sessions: Session[] = [];

  constructor(url: string) {
    this.#url = new URL(url);
  }

  async ask(call: Call): Promise<Readonly<Record<string, unknown>>> {
    await this.openSessions(1);
    return this.#ask(this.#session(0), call);
  }

  async lanes(calls: readonly Call[], { count }: { readonly count: number }): Promise<Lane[]> {
    const sessions = sessionsFor(count);
    await this.openSessions(sessions);
    return Array.from({ length: count }, (_, index) => this.#lane(this.#session(index % sessions), calls, index));
  }

  async openSessions(count: number): Promise<void> {
    while (this.#sessions.length < count) {
      const session = await openStream(this.#url);
      await this.#ask(session, initializeCall("2024-11-05"));
      const connection = new HttpConnection(this.#url);
      await connection.ask(head(session, INITIALIZED) + INITIALIZED);
      connection.close();
      this.#sessions.push(session);
    }
  }

  close(): void {
    for (const { stream } of this.#sessions) stream.destroy();
  }

  #session(index: number): Session {
    const session = this.#sessions[index];
    if (session === undefined) throw new Error("No such session");
    return session;
  }

  async #ask(session: Session, call: Call): Promise<Readonly<Record<string, unknown>>> {
    const id = this.#ids.next();
    const json = jsonOf(call, "legacy", id);
    const answered = new Promise<Buffer>((resolve, reject) => session.replies.expect(id, resolve, reject));
    const connection = new HttpConnection(this.#url);
    const [, answer] = await Promise.all([connection.ask(head(session, json) + json), answered]);
    connection.close();
    return resultOf(answer);
  }

  #lane(session: Session, calls: readonly Call[], first: number): Lane {
    const connection = new HttpConnection(this.#url);
    const messages = calls.map((call) => new Message(call, "legacy", (json) => head(session, json) + json));
    let turn = first;
    return {
      call: (onAnswer, onFailure) => {
        const id = this.#ids.next();
        const message = messages[turn++ % messages.length];
        if (message === undefined) return onFailure(new Error("A lane without requests"));
        let accepted = false;
        let answer: Buffer | undefined;
        const settle = () => accepted && answer !== undefined && onAnswer(answer);
        session.replies.expect(id, (bytes) => ((answer = bytes), settle()), onFailure);
        connection.send(message.withId(id), () => ((accepted = true), settle()), onFailure);
      },
      close: () => connection.close(),
    };
  }
}

/** HTTP/1.0, so that the server does not chunk the events. */
function openStream(url: URL): Promise<Session> {
  return new Promise((resolve, reject) => {
    const stream = connect(Number(url.port), url.hostname).setNoDelay();
    const replies = new Replies();
    const onEvent = (event: Buffer) => {
      const endpoint = /event: endpoint\r?\ndata: ?(\S+)/.exec(event.toString("latin1", 0, 1000))?.[1];
      if (endpoint === undefined) replies.take(event);
      else resolve({ stream, replies, endpoint: new URL(endpoint, url) });
    };
    stream.on("data", splitEvents(onEvent));
    stream.on("error", reject);
    stream.on("close", () => {
      const error = new Error("The stream of answers was closed");
      reject(error);
      replies.fail(error);
    });
    stream.write(`GET ${url.pathname} HTTP/1.0\r\nhost: ${url.host}\r\naccept: text/event-stream\r\n\r\n`);
  });
}

function splitEvents(onEvent: (event: Buffer) => void): (piece: Buffer) => void {
  let rest: Buffer[] = [];
  return (piece) => {
    let bytes = piece;
    // The CR and LF of a line end may arrive in two chunks.
    const last = rest.at(-1);
    if (last?.at(-1) === 0x0a && bytes[0] === 0x0a) {
      onEvent(Buffer.concat(rest));
      rest = [];
      bytes = bytes.subarray(1);
    }
    for (let end = bytes.indexOf(EVENT_END); end >= 0; end = bytes.indexOf(EVENT_END)) {
      const event = bytes.subarray(0, end);
      onEvent(rest.length === 0 ? event : Buffer.concat([...rest, event]));
      rest = [];
      bytes = bytes.subarray(end + EVENT_END.length);
    }
    if (bytes.length > 0) rest.push(bytes);
  };
}

function head({ endpoint }: Session, json: string): string {
  return (
    `POST ${endpoint.pathname}${endpoint.search} HTTP/1.1\r\nhost: ${endpoint.host}\r\n` +
    `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(json)}\r\n\r\n`
  );
}
