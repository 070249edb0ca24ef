// Questions of a server that belong to no client's request, or nobody knows to which of several. Where the connection is one
// client's own, they are put to that client; else nobody is asked, and the server is told why.

import { setTimeout as sleep } from "node:timers/promises";
import { failure, RPC, success, type Reply, type RequestMessage } from "../wire/jsonrpc.ts";
import type { FindAnswer, Unowned } from "../wire/peer.ts";
import { isObject } from "../wire/json.ts";
import { askableOf, subjectOf } from "./questions.ts";
import type { OnlyClient } from "./upstream.ts";

export interface UnownedQuestionsOptions {
  readonly client: OnlyClient | undefined;
  onAsked(method: string): void;
}

/** What a server does with an answer takes it a moment, and nothing says when it is done. */
const DIGEST_MS = 100;

export class UnownedQuestions {
  readonly #options: UnownedQuestionsOptions;
  readonly #open = new Set<Promise<Reply>>();
  #wasAsked = false;

  constructor(options: UnownedQuestionsOptions) {
    this.#options = options;
  }

  answer(question: RequestMessage, why: Unowned): FindAnswer | Reply {
    const { method } = question;
    // Whether the connection lives is ours to answer.
    if (method === "ping") return success({});
    // Only clients ask this: it is our own question that comes back.
    if (OURS.has(method)) return failure({ code: RPC.invalidRequest, message: ECHO });
    const kind = askableOf(method);
    if (kind === undefined) return failure({ code: RPC.methodNotFound, message: subjectOf(method) });
    this.#options.onAsked(method);
    const { client } = this.#options;
    if (client === undefined || !isObject(client.capabilities[kind])) return nobody(method, why);
    this.#wasAsked = true;
    return (signal) => {
      const asked = client.ask(method, question.params, { signal });
      this.#open.add(asked);
      void asked.catch(() => undefined).finally(() => this.#open.delete(asked)); // the server hears of it
      return asked;
    };
  }

  /** Resolves when nothing is open any more and the server had a moment to make use of it, or the time is over. */
  async answered(limitMs: number): Promise<void> {
    if (!this.#wasAsked) return;
    const limit = new AbortController();
    const over = sleep(limitMs, undefined, { signal: limit.signal }).catch(() => undefined); // answered in time
    await Promise.race([Promise.allSettled(this.#open), over]);
    limit.abort();
    await sleep(DIGEST_MS);
  }
}

const OURS: ReadonlySet<string> = new Set(["initialize", "server/discover"]);
/** It comes back too, as the answer, and so to whoever started the program. */
const ECHO = "The program sends back what it is sent: it echoes its input, and is not an MCP server";

/** A server that asks for roots when it starts need not hear of an error: without a client there are none. */
function nobody(method: string, why: Unowned): Reply {
  if (method === "roots/list" && why === "outside") return success({ roots: [] });
  const reason =
    why === "outside"
      ? "no client's request is open: nobody can be asked"
      : 'requests of several clients are open, and nothing says whose it is: give each its own with "isolation": "per-session" (plugboard edit)';
  return failure({ code: RPC.invalidRequest, message: `${subjectOf(method)}, but ${reason}` });
}
