// A modern client's call of a legacy server that may ask back. It lasts over as many requests of the client as the server has
// questions; between them it waits, and what the server asks waits with it.

import { setTimeout as sleep } from "node:timers/promises";
import { HubError } from "../errors.ts";
import type { Respondent } from "../servers/respondent.ts";
import { Stopwatch } from "../servers/stopwatch.ts";
import { editObject, isObject, type JsonObject } from "../wire/json.ts";
import { raw, type Id, type Raw, type Reply, type RequestMessage } from "../wire/jsonrpc.ts";
import type { OpenInquiry } from "../wire/peer.ts";
import { relatedTask } from "../wire/related-task.ts";
import type { Exchange } from "../wire/server.ts";
import { missingCapability, unsupported, withBlame, type Question, type Unasked } from "./capabilities.ts";
import { clientKey } from "./principal.ts";
import { notTheirs } from "./tasks.ts";

interface Waiting {
  readonly exchange: Exchange;
  resolve(turn: Turn): void;
}

interface Open extends Question {
  resolve(reply: Reply): void;
}

/** Where a call stands when a request of its client ends. */
export type Turn =
  | { readonly is: "answered"; readonly reply: Reply }
  | { readonly is: "asking"; readonly questions: ReadonlyMap<string, Question> };

export type Notify = (exchange: Exchange, method: string, params: Raw) => void;

/** Questions that come together are asked together. */
const GATHER_MS = 20;
const MAX_KEY_LENGTH = 128;
const OUR_KEY = /^q\d+$/;

export class InteractiveCall implements Respondent {
  readonly capabilities: JsonObject;
  wasAsked = false;
  /** The request that it began with. */
  readonly #first: Pick<Exchange, "headers" | "session" | "connection">;
  readonly #notify: Notify;
  readonly #questions = new Map<string, Open>();
  readonly #asked = new Stopwatch();
  readonly #outcome: Promise<Reply>;
  /** The request of the client that waits; none while the call is parked. */
  #waiting: Waiting | undefined;
  #gathering: NodeJS.Timeout | undefined;
  #giveUp: (() => void) | undefined;
  #count = 0;
  /** What the client could not be asked. */
  #unasked: Unasked | undefined;
  /** Questions that are refused when the client has answered the others. */
  readonly #refusals: (() => void)[] = [];

  /** Begins the call. Until the server asks, it is cancelled like any other, by the signal of the request that it began with. */
  constructor(first: Exchange, notify: Notify, begin: (call: InteractiveCall) => Promise<Reply>) {
    this.capabilities = first.capabilities;
    this.#first = first;
    this.#notify = notify;
    this.#outcome = begin(this).then((reply) => withBlame(reply, this.#unasked));
  }

  caller(): string | undefined {
    return clientKey(this.#first);
  }

  get askedMs(): number {
    return this.#asked.totalMs;
  }

  /** Nobody will come back for the outcome. Only a call that has asked can be left alone. */
  cancel(): void {
    this.#giveUp?.();
  }

  /** The client waits: for the outcome, which may be a failure, or until the server wants to know something. */
  turn(exchange: Exchange): Promise<Turn> {
    return new Promise((resolve, reject) => {
      this.#waiting = { exchange, resolve };
      void this.#outcome.then((reply) => resolve({ is: "answered", reply }), reject).finally(() => this.#stopWaiting());
      if (this.#questions.size > 0) this.#gather();
    });
  }

  /** The client is back, with answers. What it leaves open it is asked again; if it leaves, the call is cancelled. */
  resume(exchange: Exchange, answers: ReadonlyMap<string, JsonObject>): Promise<Turn> {
    for (const [key, answer] of answers) {
      const question = this.#questions.get(key);
      this.#questions.delete(key);
      question?.resolve({ ok: true, result: raw(answer) });
    }
    for (const refuse of this.#refusals.splice(0)) refuse();
    if (exchange.signal.aborted) this.cancel();
    else exchange.signal.addEventListener("abort", () => this.cancel(), { once: true });
    return this.turn(exchange);
  }

  /** What the server says meanwhile goes to the request that waits, with the token of that request. */
  tell(method: string, params: Raw): void {
    const exchange = this.#waiting?.exchange;
    if (exchange === undefined) return;
    if (method !== "notifications/progress") return this.#notify(exchange, method, params);
    const meta = exchange.request.params?.value["_meta"];
    const token = isObject(meta) ? meta["progressToken"] : undefined;
    if (token === undefined || !isObject(params.value)) return;
    const bytes = editObject(params.bytes, { progressToken: JSON.stringify(token) });
    this.#notify(exchange, method, { bytes, value: { ...params.value, progressToken: token } });
  }

  async answer({ id, method, params }: RequestMessage, { signal, giveUp }: OpenInquiry): Promise<Reply> {
    if (relatedTask(params?.value) !== undefined) return notTheirs(method);
    const question = { method, params: params?.value };
    const missing = missingCapability(question, this.capabilities);
    if (missing !== undefined) {
      this.#unasked ??= { method, missing };
      await this.#othersAnswered(signal);
      return unsupported(question, missing);
    }
    this.wasAsked = true;
    this.#giveUp = giveUp;
    const key = this.#keyFor(id);
    const answered = new Promise<Reply>((resolve, reject) => {
      const takeBack = () => {
        this.#questions.delete(key);
        reject(new HubError("Cancelled", `${method} is no longer asked`));
      };
      signal.addEventListener("abort", takeBack, { once: true });
      this.#questions.set(key, { ...question, resolve });
      this.#gather();
    });
    return this.#asked.during(answered);
  }

  /**
   * What the server calls its question is its id, and a text says more to people than a count. A long one may be data; and
   * one that has the form of ours could be taken for it.
   */
  #keyFor(id: Id): string {
    const isName = typeof id === "string" && id !== "" && id.length <= MAX_KEY_LENGTH && !OUR_KEY.test(id);
    return isName ? id : `q${++this.#count}`;
  }

  /** A modern client finds out by asking again. */
  completed(): void {}

  /** A refusal may end the call at the server: what comes together with it and can be asked is asked first. */
  async #othersAnswered(signal: AbortSignal): Promise<void> {
    await sleep(GATHER_MS, undefined, { ref: false });
    if (this.#questions.size === 0 || signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#refusals.push(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  #gather(): void {
    if (this.#waiting === undefined) return;
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      if (this.#questions.size === 0) return;
      const waiting = this.#waiting;
      this.#stopWaiting();
      waiting?.resolve({ is: "asking", questions: new Map(this.#questions) });
    }, GATHER_MS);
  }

  #stopWaiting(): void {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    this.#waiting = undefined;
  }
}
