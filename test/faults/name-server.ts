// A DNS server that says what a test wants, over UDP: addresses, that there is no such name, that it failed, or nothing.

import { createSocket, type Socket } from "node:dgram";
import { Resolver } from "node:dns";
import { once } from "node:events";
import type { LookupFunction } from "node:net";

/** `silence`: the question is heard and never answered. */
export type Answer = readonly string[] | "no such name" | "failure" | "silence";

const HEADER_BYTES = 12;
const TYPE_A = 1;
const CODES = { "no such name": 3, failure: 2 } as const;
/** Longer than anybody waits for a connection: what ends the wait is the hub's own clock. */
const PATIENCE_MS = 60_000;

/** @example const names = await NameServer.open(); names.set("server.test", ["127.0.0.2"]); */
export class NameServer {
  readonly #socket: Socket;
  readonly #answers = new Map<string, Answer>();
  /** The names that were asked for, one for each question about IPv4. */
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

  /** From now on. What nobody set does not exist. */
  set(name: string, answer: Answer): void {
    this.#answers.set(name, answer);
  }

  count(name: string): number {
    return this.asked.filter((asked) => asked === name).length;
  }

  /** Asks this server, as a program asks the system. */
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
    // There is no IPv6 here, whatever the name.
    const addresses = typeof answer === "string" || !isAddress ? [] : answer;
    const code = typeof answer === "string" ? CODES[answer] : 0;
    const header = Buffer.from(question.subarray(0, HEADER_BYTES));
    header.writeUInt16BE(0x8180 | code, 2);
    header.writeUInt16BE(addresses.length, 6);
    header.writeUInt32BE(0, 8);
    return Buffer.concat([header, question.subarray(HEADER_BYTES, end + 4), ...addresses.map(record)]);
  }
}

/** The name of the first question, and where its type begins. */
function nameIn(question: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), end: at + 1 };
}

/** The name of the question, type A, class IN, not to be kept, four bytes. */
function record(address: string): Buffer {
  return Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split(".").map(Number)]);
}
