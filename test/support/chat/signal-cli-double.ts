// A double of the signal-cli daemon: JSON-RPC with its error codes, the event stream with and without ids, keep-alives. Envelopes
// have the format of signal-cli's own classes.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { listen, portOf } from "../sockets.ts";

export const ACCOUNT = "+15550000009";
export const SELF = "99999999-9999-4999-8999-999999999999";
export const ALICE = {
  source: "+15550000001",
  sourceNumber: "+15550000001",
  sourceUuid: "11111111-1111-4111-8111-111111111111",
  sourceName: "Alice",
  sourceDevice: 1,
};
/** Same group id as in signal-export.ts. */
export const WEEKEND = {
  groupId: "oroE+kkkL8I7/RAkLPCJTJXWJtGEQJ2C48QynhfRFe0=",
  groupName: "Weekend",
  revision: 7,
  type: "DELIVER",
};

interface Call {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export class SignalCliDouble {
  readonly url: string;
  readonly calls: Call[] = [];
  /** Linked accounts; undefined for a single-account daemon. */
  accounts: readonly string[] | undefined = [ACCOUNT];
  /** Errors for the next calls, by method. */
  readonly refusals = new Map<string, { code: number; message: string }>();
  readonly #server: Server;
  readonly #listeners = new Set<ServerResponse>();
  /** Newer daemons keep the last events with ids. */
  readonly #hasIds: boolean;
  readonly #kept: { readonly id: number; readonly data: string }[] = [];
  #nextId = 1;
  #nextTimestamp = 1_763_200_000_000;

  static async start({ hasIds = true } = {}): Promise<SignalCliDouble> {
    const server = createServer();
    await listen(server);
    return new SignalCliDouble(server, hasIds);
  }

  private constructor(server: Server, hasIds: boolean) {
    this.#server = server;
    this.#hasIds = hasIds;
    this.url = `http://127.0.0.1:${portOf(server)}`;
    server.on("request", (request, response) => void this.#serve(request, response));
  }

  get listening(): number {
    return this.#listeners.size;
  }

  timestamp(): number {
    return this.#nextTimestamp++;
  }

  receive(envelope: object, more: object = {}): void {
    const data = JSON.stringify({ account: ACCOUNT, envelope, ...more });
    const event = { id: this.#nextId++, data };
    this.#kept.push(event);
    for (const listener of this.#listeners) this.#write(listener, event);
  }

  /** Raw bytes of the stream. */
  writeRaw(text: string): void {
    for (const listener of this.#listeners) listener.write(text);
  }

  cut(): void {
    this.#server.closeAllConnections();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", this.url);
    if (url.pathname === "/api/v1/check") return void response.writeHead(200).end();
    if (url.pathname === "/api/v1/events") return this.#events(url, request, response);
    if (url.pathname !== "/api/v1/rpc") return void response.writeHead(404).end();
    if (request.method !== "POST") return void response.writeHead(405).end();
    if (!(request.headers["content-type"] ?? "").startsWith("application/json"))
      return void response.writeHead(415).end();
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const call = JSON.parse(Buffer.concat(parts).toString()) as Call & { id: string };
    this.calls.push({ method: call.method, params: call.params });
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: call.id, ...this.#answer(call) }));
  }

  #answer({ method, params }: Call): { result: unknown } | { error: { code: number; message: string } } {
    const refusal = this.refusals.get(method);
    this.refusals.delete(method);
    if (refusal !== undefined) return { error: refusal };
    const account = params["account"];
    if (this.accounts !== undefined && method !== "listAccounts" && !this.accounts.includes(String(account))) {
      return { error: { code: -32602, message: "Specified account does not exist" } };
    }
    switch (method) {
      case "listAccounts":
        if (this.accounts === undefined) return { error: { code: -32601, message: "Method not implemented" } };
        return { result: this.accounts.map((number) => ({ number })) };
      case "getUserStatus":
        return { result: [{ recipient: ACCOUNT, number: ACCOUNT, uuid: SELF, isRegistered: true }] };
      case "listContacts":
        return { result: CONTACTS };
      case "listGroups":
        return {
          result: [
            {
              id: WEEKEND.groupId,
              name: "Weekend",
              isMember: true,
              members: [{ uuid: SELF }, { uuid: ALICE.sourceUuid }],
            },
          ],
        };
      case "send":
        return { result: { timestamp: this.timestamp(), results: [{ recipientAddress: {}, type: "SUCCESS" }] } };
      default:
        return { error: { code: -32601, message: "Method not implemented" } };
    }
  }

  #events(url: URL, request: IncomingMessage, response: ServerResponse): void {
    const account = url.searchParams.get("account");
    if (this.accounts !== undefined && account !== null && !this.accounts.includes(account)) {
      return void response.writeHead(400).end();
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    const last = request.headers["last-event-id"];
    if (this.#hasIds && last !== undefined) {
      const [, sequence = "0"] = /^run-(\d+)$/.exec(String(last)) ?? [];
      for (const event of this.#kept) if (event.id > Number(sequence)) this.#write(response, event);
    }
    this.#listeners.add(response);
    const keepAlive = setInterval(() => response.write(":\n"), 15_000);
    response.on("close", () => {
      clearInterval(keepAlive);
      this.#listeners.delete(response);
    });
  }

  #write(listener: ServerResponse, { id, data }: { id: number; data: string }): void {
    listener.write(`${this.#hasIds ? `id:run-${id}\n` : ""}event:receive\ndata:${data}\n\n`);
  }
}

const CONTACTS = [
  { number: ACCOUNT, uuid: SELF, username: null, name: "Me", profile: null },
  {
    number: null,
    uuid: "33333333-3333-4333-8333-333333333333",
    username: null,
    name: "",
    profile: { givenName: "Hidden", familyName: "Number" },
  },
];
