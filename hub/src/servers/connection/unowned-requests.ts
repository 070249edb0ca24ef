// Requests of a server that belong to no open call, or to an unknown one of several. If the connection has only one client, that
// client answers; otherwise the server gets an error with the reason.

import { setTimeout as sleep } from "node:timers/promises";
import { failure, RPC, success, type Reply, type RequestMessage } from "../../protocol/rpc/jsonrpc.ts";
import type { RequestHandler, UnownedReason } from "../../protocol/connect/peer.ts";
import { isObject } from "../../lib/json/json.ts";
import { featureOf, subjectOf } from "./client-responder.ts";
import type { OnlyClient } from "./upstream.ts";

export interface UnownedRequestsOptions {
  readonly client: OnlyClient | undefined;
  onClientRequest(method: string): void;
}

/** Time for the server to process an answer, since it sends no confirmation. */
const PROCESS_MS = 100;

export class UnownedRequests {
  readonly #options: UnownedRequestsOptions;
  readonly #open = new Set<Promise<Reply>>();
  #hasAsked = false;

  constructor(options: UnownedRequestsOptions) {
    this.#options = options;
  }

  answer(message: RequestMessage, why: UnownedReason): RequestHandler | Reply {
    const { method } = message;
    // The hub itself answers pings.
    if (method === "ping") return success({});
    // Only clients send these: the program echoes our own request.
    if (OURS.has(method)) return failure({ code: RPC.invalidRequest, message: ECHO });
    const feature = featureOf(method);
    if (feature === undefined) return failure({ code: RPC.methodNotFound, message: subjectOf(method) });
    this.#options.onClientRequest(method);
    const { client } = this.#options;
    if (client === undefined) return refusal(method, why);
    if (client.isProgram !== true && !isObject(client.capabilities[feature])) return refusal(method, why);
    this.#hasAsked = true;
    return (signal) => {
      const asked = client.ask(method, message.params, { signal });
      this.#open.add(asked);
      void asked.catch(() => undefined).finally(() => this.#open.delete(asked)); // the server gets the failure
      return asked;
    };
  }

  /** Resolves when all are answered and the server had time to process the answers, or the limit is over. */
  async answered(limitMs: number): Promise<void> {
    if (!this.#hasAsked) return;
    const limit = new AbortController();
    const over = sleep(limitMs, undefined, { signal: limit.signal }).catch(() => undefined); // answered in time
    await Promise.race([Promise.allSettled(this.#open), over]);
    limit.abort();
    await sleep(PROCESS_MS);
  }
}

const OURS: ReadonlySet<string> = new Set(["initialize", "server/discover"]);
/** The program echoes this error as well, so the user gets it as the reason of the failed start. */
const ECHO = "The program echoes its input: it is not an MCP server";

/** A server that lists roots at its start gets an empty list: without a client there are none. */
function refusal(method: string, why: UnownedReason): Reply {
  if (method === "roots/list" && why === "outside") return success({ roots: [] });
  const reason =
    why === "outside"
      ? "no client has a request open, so none can answer"
      : 'several requests are open, and nothing says which of them it belongs to: give each client its own process with "isolation": "per-session", or each call with "per-call" (plugboard edit)';
  return failure({ code: RPC.invalidRequest, message: `${subjectOf(method)}, but ${reason}` });
}
