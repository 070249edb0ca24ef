// One authenticated connection to an XMPP server. Refuses insecure logins; not reusable after close.

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { isIP, Socket } from "node:net";
import { client as createClient, xml, type Client } from "@xmpp/client";
import { codeOf, SourceFailure } from "../failure.ts";
import { createDeadline } from "../http.ts";
import { conditionOf } from "./archive.ts";
import { attr, bare, NS, type Element } from "./stanza.ts";

const CONNECT_MS = 30_000;
const PING_MS = 60_000;
const ANSWER_MS = 30_000;

export interface Login {
  /** Such as `xmpps://host:5223` or `xmpp://host:5222`. */
  readonly service: string;
  /** `user@domain`. */
  readonly jid: string;
  readonly password: () => Promise<string>;
}

export class Session {
  readonly client: Client;
  readonly #stop: () => void;
  readonly #lost: Promise<never>;

  /** Rejects if the connection or login fails. */
  static async open(login: Login, signal: AbortSignal): Promise<Session> {
    const deadline = createDeadline(signal, CONNECT_MS);
    const session = new Session(login, await login.password());
    try {
      const aborted = once(deadline.signal, "abort").then(() => {
        throw new SourceFailure("unreachable", "The server did not answer in time");
      });
      await Promise.race([session.client.start(), session.#lost, aborted]);
      return session;
    } catch (error) {
      session.close();
      throw toFailure(error);
    } finally {
      deadline.clear();
    }
  }

  private constructor(login: Login, password: string) {
    const [username = "", domain = ""] = login.jid.split("@");
    let refusal: SourceFailure | undefined;
    this.client = createClient({
      service: login.service,
      domain,
      credentials: async (authenticate, mechanisms, _fast, entity) => {
        // Require TLS, except on loopback, where servers often have no certificate.
        if (!entity.isSecure() && !isLoopback(login.service)) {
          refusal = new SourceFailure("refused", "The server offers no encryption; the login was not attempted");
          throw refusal;
        }
        // PLAIN sends the password itself: only over TLS.
        const mechanism = mechanisms.find((name) => name === "SCRAM-SHA-1" || (name === "PLAIN" && entity.isSecure()));
        if (mechanism === undefined) {
          refusal = new SourceFailure("refused", "The server offers no secure login method");
          throw refusal;
        }
        await authenticate({ username, password }, mechanism, xml("user-agent", { id: randomUUID() }));
      },
    });
    // Reconnecting is left to our own loop.
    this.client.reconnect.stop();
    this.client.on("opening", () => {
      const stream = streamOf(this.client);
      // The library decodes each chunk separately, which breaks characters at chunk ends.
      stream?.setEncoding("utf8");
      // Stanzas are small and latency matters.
      stream?.setNoDelay();
    });
    this.#lost = new Promise((_, reject) => {
      this.client.on("error", (error) => reject(refusal ?? toFailure(error)));
      this.client.on("disconnect", () =>
        reject(refusal ?? new SourceFailure("unreachable", "The connection was lost")),
      );
    });
    this.#lost.catch(() => undefined);
    const ping = setInterval(() => void this.#ping(), PING_MS);
    this.#stop = () => clearInterval(ping);
  }

  /** Rejects when the connection is lost. */
  get lost(): Promise<never> {
    return this.#lost;
  }

  get self(): string {
    return bare(String(this.client.jid));
  }

  async ask(stanza: Element): Promise<Element> {
    return this.client.iqCaller.request(stanza, ANSWER_MS);
  }

  /** Service discovery: features and name. */
  async discover(jid: string): Promise<{ features: ReadonlySet<string>; name: string | undefined }> {
    const answer = await this.ask(xml("iq", { type: "get", to: jid }, xml("query", { xmlns: NS.disco })));
    const info = answer.getChild("query", NS.disco);
    const features = (info?.getChildren("feature") ?? []).map((feature) => attr(feature, "var") ?? "");
    return { features: new Set(features), name: attr(info?.getChild("identity"), "name") };
  }

  /** Closes the stream without waiting for the server's answer. */
  close(): void {
    this.#stop();
    const stream = streamOf(this.client);
    if (this.client.status === "online") stream?.end("</stream:stream>", () => stream.destroy());
    else stream?.destroy();
    // Reject pending requests, whose timers would keep running.
    const closed = new SourceFailure("unreachable", "The connection was closed");
    for (const [id, waiting] of this.client.iqCaller.handlers) {
      this.client.iqCaller.handlers.delete(id);
      // A caller that is still sending has no handler on the promise yet.
      waiting.promise.catch(() => undefined);
      waiting.reject(closed);
    }
  }

  async #ping(): Promise<void> {
    try {
      await this.ask(xml("iq", { type: "get" }, xml("ping", { xmlns: NS.ping })));
    } catch (error) {
      // An error response proves the connection as well.
      if (conditionOf(error) === undefined) streamOf(this.client)?.destroy();
    }
  }
}

/** The socket, or the one inside a TLS connection. */
function streamOf({ socket }: Client): Socket | undefined {
  if (socket instanceof Socket) return socket;
  return socket !== null && "socket" in socket && socket.socket instanceof Socket ? socket.socket : undefined;
}

function isLoopback(service: string): boolean {
  const host = new URL(service).hostname.replace(/^\[|\]$/g, "");
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

function toFailure(error: unknown): SourceFailure {
  if (error instanceof SourceFailure) return error;
  const condition = conditionOf(error);
  if (error instanceof Error && error.name === "SASLError") {
    return new SourceFailure("unauthorized", `The server refused the password (${condition ?? "no reason"})`);
  }
  if (condition === "conflict") return new SourceFailure("conflict", "Another client replaced this connection");
  return new SourceFailure("unreachable", `The connection failed (${condition ?? codeOf(error)})`);
}
