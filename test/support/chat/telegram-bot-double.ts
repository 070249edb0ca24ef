// A double of the Bot API: long polls, acknowledgement by offset, `allowed_updates`, one poller at a time, and errors. It is
// tested with grammy too, so that it does not only fit our client.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { listen, portOf } from "../sockets.ts";

export const TOKEN = "123456:AA-secret_of_the_bot";

interface Poll {
  readonly offset: number;
  readonly limit: number;
  readonly allowed: readonly string[];
  readonly response: ServerResponse;
  readonly timer: NodeJS.Timeout;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

interface Call {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export class BotApiDouble {
  readonly root: string;
  /** All calls in order. */
  readonly calls: Call[] = [];
  /** Failures for the next calls of a method. */
  readonly failures: (Answer & { readonly method: string })[] = [];
  token = TOKEN;
  #updates: { update_id: number }[] = [];
  #nextUpdate = 100;
  #nextMessage = 1;
  #poll: Poll | undefined;
  readonly #server: Server;
  readonly #sent = new Map<string, unknown>();

  static async start(): Promise<BotApiDouble> {
    const server = createServer();
    await listen(server);
    return new BotApiDouble(server);
  }

  private constructor(server: Server) {
    this.#server = server;
    this.root = `http://127.0.0.1:${portOf(server)}`;
    server.on("request", (request, response) => void this.#serve(request, response));
  }

  /** Returns the update id. */
  push(update: Readonly<Record<string, unknown>>, number = this.#nextUpdate): number {
    this.#nextUpdate = number + 1;
    this.#updates.push({ update_id: number, ...update });
    this.#answerPoll();
    return number;
  }

  nextMessageId(): number {
    return this.#nextMessage++;
  }

  /** Unacknowledged updates. */
  get waiting(): number {
    return this.#updates.length;
  }

  get polling(): boolean {
    return this.#poll !== undefined;
  }

  cut(): void {
    this.#server.closeAllConnections();
  }

  async close(): Promise<void> {
    this.#endPoll();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readBody(request).catch(() => undefined);
    if (text === undefined) return;
    const [, bot, method = ""] = /^\/bot([^/]+)\/(\w+)$/.exec(request.url ?? "") ?? [];
    if (decodeURIComponent(bot ?? "") !== this.token) return reply(response, refusal(401, "Unauthorized"));
    const params = text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
    this.calls.push({ method, params });
    const failure = this.failures.findIndex((candidate) => candidate.method === method);
    if (failure >= 0) {
      const [answer] = this.failures.splice(failure, 1);
      if (answer !== undefined) return reply(response, answer);
    }
    if (method === "getUpdates") return this.#getUpdates(params, response);
    reply(response, this.#answer(method, params));
  }

  #answer(method: string, params: Readonly<Record<string, unknown>>): Answer {
    switch (method) {
      case "getMe":
        return ok({ id: 123456, is_bot: true, first_name: "Test bot", username: "test_bot", can_join_groups: true });
      case "deleteWebhook":
        return ok(true);
      case "getBusinessConnection":
        return ok({
          id: params["business_connection_id"],
          user: OWNER,
          user_chat_id: OWNER.id,
          date: 1,
          is_enabled: true,
        });
      case "getChatMemberCount":
        return params["chat_id"] === 403 ? refusal(403, "Forbidden: bot was kicked") : ok(17);
      case "sendMessage":
        return this.#sendMessage(params);
      default:
        return refusal(404, "Not Found: method not found");
    }
  }

  #sendMessage(params: Readonly<Record<string, unknown>>): Answer {
    if (params["chat_id"] === 403) return refusal(403, "Forbidden: bot was blocked by the user");
    const message = {
      message_id: this.nextMessageId(),
      date: Math.floor(Date.now() / 1000),
      chat: { id: params["chat_id"], type: "private", first_name: "Alice" },
      from: { id: 123456, is_bot: true, first_name: "Test bot" },
      text: params["text"],
      ...(params["business_connection_id"] === undefined
        ? {}
        : { business_connection_id: params["business_connection_id"] }),
    };
    this.#sent.set(String(message.message_id), message);
    return ok(message);
  }

  #getUpdates(params: Readonly<Record<string, unknown>>, response: ServerResponse): void {
    if (this.#poll !== undefined) {
      const { response: earlier } = this.#poll;
      this.#endPoll();
      reply(earlier, refusal(409, "Conflict: terminated by other getUpdates request"));
    }
    const offset = typeof params["offset"] === "number" ? params["offset"] : 0;
    const timeoutS = typeof params["timeout"] === "number" ? params["timeout"] : 0;
    this.#updates = this.#updates.filter((update) => update.update_id >= offset);
    const timer = setTimeout(() => {
      this.#endPoll();
      reply(response, ok([]));
    }, timeoutS * 1000);
    const allowed = Array.isArray(params["allowed_updates"]) ? params["allowed_updates"].map(String) : [];
    this.#poll = { offset, limit: Number(params["limit"] ?? 100), allowed, response, timer };
    response.on("close", () => {
      if (this.#poll?.response === response) this.#endPoll();
    });
    this.#answerPoll();
  }

  #answerPoll(): void {
    const poll = this.#poll;
    if (poll === undefined) return;
    const wanted: object[] = [];
    for (const update of this.#updates) {
      if (wanted.length >= poll.limit) break;
      if (isAllowed(update, poll.allowed)) wanted.push(update);
    }
    if (wanted.length === 0) return;
    this.#endPoll();
    reply(poll.response, ok(wanted));
  }

  #endPoll(): void {
    clearTimeout(this.#poll?.timer);
    this.#poll = undefined;
  }
}

export const OWNER = { id: 900, is_bot: false, first_name: "Olga", username: "olga" };
/** Update types that Telegram omits unless requested. */
const UNUSUAL = new Set(["chat_member", "message_reaction", "message_reaction_count"]);

function isAllowed(update: object, allowed: readonly string[]): boolean {
  const kind = Object.keys(update).find((key) => key !== "update_id") ?? "";
  return allowed.length === 0 ? !UNUSUAL.has(kind) : allowed.includes(kind);
}

const ok = (result: unknown): Answer => ({ status: 200, body: { ok: true, result } });

export const refusal = (code: number, description: string, retryAfter?: number): Answer => ({
  status: code,
  body: {
    ok: false,
    error_code: code,
    description,
    ...(retryAfter === undefined ? {} : { parameters: { retry_after: retryAfter } }),
  },
});

function reply(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}
