// One connection to an XMPP server: logged in, safely or not at all, and closed for good. When it is lost is said once.

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

  /** Rejects when it cannot be made. */
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
        // Without encryption anybody on the way reads along. On loopback nobody is on the way, and a server there often
        // has no certificate.
        if (!entity.isSecure() && !isLoopback(login.service)) {
          refusal = new SourceFailure("refused", "The server offers no encryption; nothing was sent to it");
          throw refusal;
        }
        // Never the password itself over an open line.
        const mechanism = mechanisms.find((name) => name === "SCRAM-SHA-1" || (name === "PLAIN" && entity.isSecure()));
        if (mechanism === undefined) {
          refusal = new SourceFailure("refused", "The server offers no safe way to log in");
          throw refusal;
        }
        await authenticate({ username, password }, mechanism, xml("user-agent", { id: randomUUID() }));
      },
    });
    // Our own loop knows when to come back.
    this.client.reconnect.stop();
    this.client.on("opening", () => {
      const stream = streamOf(this.client);
      // The library decodes every piece by itself, and would break a character that is cut in two.
      stream?.setEncoding("utf8");
      // Stanzas are small, and each is waited for.
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

  /** What it can do, by the names of the extensions; and its name. */
  async discover(jid: string): Promise<{ features: ReadonlySet<string>; name: string | undefined }> {
    const answer = await this.ask(xml("iq", { type: "get", to: jid }, xml("query", { xmlns: NS.disco })));
    const info = answer.getChild("query", NS.disco);
    const features = (info?.getChildren("feature") ?? []).map((feature) => attr(feature, "var") ?? "");
    return { features: new Set(features), name: attr(info?.getChild("identity"), "name") };
  }

  /** Says good-bye where somebody listens, and does not wait for the answer. */
  close(): void {
    this.#stop();
    const stream = streamOf(this.client);
    if (this.client.status === "online") stream?.end("</stream:stream>", () => stream.destroy());
    else stream?.destroy();
    // Nobody answers any more; their clocks would go on.
    const closed = new SourceFailure("unreachable", "The connection was closed");
    for (const [id, waiting] of this.client.iqCaller.handlers) {
      this.client.iqCaller.handlers.delete(id);
      // Whoever is still sending the question has not begun to wait for the answer.
      waiting.promise.catch(() => undefined);
      waiting.reject(closed);
    }
  }

  async #ping(): Promise<void> {
    try {
      await this.ask(xml("iq", { type: "get" }, xml("ping", { xmlns: NS.ping })));
    } catch (error) {
      // A server that knows no pings answers too.
      if (conditionOf(error) === undefined) streamOf(this.client)?.destroy();
    }
  }
}

/** The socket itself, or the one inside a TLS connection. */
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
  if (condition === "conflict")
    return new SourceFailure("conflict", "Another client has taken this connection's place");
  return new SourceFailure("unreachable", `The connection failed (${condition ?? codeOf(error)})`);
}
