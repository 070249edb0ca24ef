// A scripted DNS server over UDP: addresses, NXDOMAIN, SERVFAIL, or no answer.

import { createSocket, type Socket } from "node:dgram";
import { Resolver } from "node:dns";
import { once } from "node:events";
import type { LookupFunction } from "node:net";

/** `silence`: the query is received and not answered. */
export type Answer = readonly string[] | "no such name" | "failure" | "silence";

const HEADER_BYTES = 12;
const TYPE_A = 1;
const CODES = { "no such name": 3, failure: 2 } as const;
/** Longer than the connection timeout, so that the hub's own timer ends the wait. */
const PATIENCE_MS = 60_000;

/** @example const names = await NameServer.open(); names.set("server.test", ["127.0.0.2"]); */
export class NameServer {
  readonly #socket: Socket;
  readonly #answers = new Map<string, Answer>();
  /** The queried names, one for each A query. */
  readonly asked: string[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("message", (question, { port, address }) => {
      const reply = this.#reply(question);
      if (reply !== undefined) socket.send(reply, port, address);
    });
  }

  static async open({ host = "127.0.0.1", port = 0 } = {}): Promise<NameServer> {
    const socket = createSocket("udp4");
    socket.bind(port, host);
    await once(socket, "listening");
    return new NameServer(socket);
  }

  /** Sets the answer for a name. Names that are not set do not exist. */
  set(name: string, answer: Answer): void {
    this.#answers.set(name, answer);
  }

  count(name: string): number {
    return this.asked.filter((asked) => asked === name).length;
  }

  /** A lookup function that queries this server. */
  get lookup(): LookupFunction {
    const resolver = new Resolver({ timeout: PATIENCE_MS, tries: 1 });
    const { address, port } = this.#socket.address();
    resolver.setServers([`${address}:${port}`]);
    return (name, options, callback) =>
      resolver.resolve4(name, (error, addresses) => {
        if (error !== null) callback(error, "");
        else if (options.all !== true) callback(null, addresses[0] ?? "", 4);
        else
          callback(
            null,
            addresses.map((each) => ({ address: each, family: 4 })),
          );
      });
  }

  async close(): Promise<void> {
    const closed = once(this.#socket, "close");
    this.#socket.close();
    await closed;
  }

  #reply(question: Buffer): Buffer | undefined {
    const { name, end } = nameIn(question);
    const isAddress = question.readUInt16BE(end) === TYPE_A;
    if (isAddress) this.asked.push(name);
    const answer = this.#answers.get(name) ?? "no such name";
    if (answer === "silence") return undefined;
    // No name has an IPv6 address.
    const addresses = typeof answer === "string" || !isAddress ? [] : answer;
    const code = typeof answer === "string" ? CODES[answer] : 0;
    const header = Buffer.from(question.subarray(0, HEADER_BYTES));
    header.writeUInt16BE(0x8180 | code, 2);
    header.writeUInt16BE(addresses.length, 6);
    header.writeUInt32BE(0, 8);
    return Buffer.concat([header, question.subarray(HEADER_BYTES, end + 4), ...addresses.map(record)]);
  }
}

/** The name of the first question, and the offset of its type. */
function nameIn(question: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), end: at + 1 };
}

/** An answer record: pointer to the name, type A, class IN, TTL 0, four bytes. */
function record(address: string): Buffer {
  return Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split(".").map(Number)]);
}
