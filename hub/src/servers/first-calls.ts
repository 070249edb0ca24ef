// Keeps apart the calls of different clients on a pipe that they share, as long as it is not known whether the server asks
// back in them: on a pipe nothing says whose call a question belongs to. A call whose like has ended without a question
// waits for nobody. One that waits goes on as soon as the server turns out to ask (its client then gets an instance of
// its own), or after a while, since most servers never ask anything.

import { isObject } from "../wire/json.ts";
import { LOCAL, canAnswer, type Caller } from "./caller.ts";
import { ASKABLE } from "./era-memory.ts";
import type { Respondent } from "./respondent.ts";
import type { Ask } from "./upstream.ts";

export interface UnderWay {
  readonly what: string | undefined;
  readonly respondent: Respondent | undefined;
  readonly caller: Caller | undefined;
  /** Its client can be asked something. */
  readonly isAskable: boolean;
  /** The server may ask in the course of it, as far as is known. */
  readonly mayAsk: boolean;
  /** On the pipe that clients share. */
  readonly isShared: boolean;
  /** How many questions had come when it began. */
  readonly asked: number;
}

/** A tool that asks does so at once as a rule; what works for longer is not waited for. */
const WAIT_MS = 2000;
const MAX_QUIET = 10_000;
const ANYTHING = new Set(ASKABLE);

export class FirstCalls {
  readonly #underWay = new Set<UnderWay>();
  /** What has ended without a question. */
  readonly #quiet = new Set<string>();
  /** Of those under way on a shared connection, how many the server may ask in: as a rule none, and nothing is looked through. */
  #asking = 0;
  #waiting: (() => void)[] = [];
  #asked = 0;
  /** Its last question was on the stream of its request, as all of them are then: nobody need wait. */
  #placesQuestions = false;

  mayAsk(ask: Ask): boolean {
    const what = whatOf(ask);
    return what !== undefined && !this.#quiet.has(what);
  }

  /** Whether nobody else's request on the shared connection could be taken for the one that asks. */
  isSharedFree(ask: Ask): boolean {
    const mayAsk = this.mayAsk(ask);
    if (!mayAsk && this.#asking === 0) return true;
    for (const other of this.#underWay) if (other.isShared && (mayAsk || other.mayAsk)) return false;
    return true;
  }

  /** The only client whose request on the shared connection a question can belong to. */
  get onlyCaller(): Caller | undefined {
    let only: Caller | undefined;
    for (const { isShared, caller } of this.#underWay) {
      if (!isShared) continue;
      if (only !== undefined || caller === undefined) return undefined;
      only = caller;
    }
    return only;
  }

  /** A promise where the request has to wait, which must then be asked about again; undefined where it may go. */
  wait(ask: Ask, since: number): Promise<void> | undefined {
    if (this.#underWay.size === 0 || this.#placesQuestions) return undefined;
    const leftMs = since + WAIT_MS - performance.now();
    if (leftMs <= 0 || !this.#isInTheWay(ask)) return undefined;
    return new Promise((resolve) => {
      const go = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(go, leftMs);
      this.#waiting.push(go);
    });
  }

  begin(ask: Ask, { isShared }: { readonly isShared: boolean }): UnderWay {
    const begun: UnderWay = {
      what: whatOf(ask),
      respondent: ask.respondent,
      caller: ask.caller,
      isAskable: canAnswer(ask.caller ?? LOCAL, ANYTHING),
      mayAsk: this.mayAsk(ask),
      isShared,
      asked: this.#asked,
    };
    this.#underWay.add(begun);
    if (isShared && begun.mayAsk) this.#asking++;
    return begun;
  }

  end(ended: UnderWay, { isAnswered }: { readonly isAnswered: boolean }): void {
    if (this.#underWay.delete(ended) && ended.isShared && ended.mayAsk) this.#asking--;
    if (isAnswered && ended.mayAsk && ended.what !== undefined && ended.asked === this.#asked) {
      if (this.#quiet.size >= MAX_QUIET) this.#quiet.clear();
      this.#quiet.add(ended.what);
    }
    this.#wake();
  }

  /** The server asks something. Unless it says itself which request that is for, it may be any that is under way. */
  asked({ isPlaced }: { readonly isPlaced: boolean }): void {
    this.#placesQuestions = isPlaced;
    if (isPlaced) return this.#wake();
    this.#asked++;
    for (const { what } of this.#underWay) if (what !== undefined) this.#quiet.delete(what);
    this.#wake();
  }

  #wake(): void {
    if (this.#waiting.length > 0) for (const go of this.#waiting.splice(0)) go();
  }

  #isInTheWay(ask: Ask): boolean {
    const mayAsk = this.mayAsk(ask);
    if (!mayAsk && this.#asking === 0) return false;
    const isAskable = canAnswer(ask.caller ?? LOCAL, ANYTHING);
    const client = ask.respondent?.caller();
    for (const other of this.#underWay) {
      if (!other.isShared || !(mayAsk || other.mayAsk) || !(isAskable || other.isAskable)) continue;
      // What it asks is known, and a person may take minutes to answer.
      if (other.respondent?.wasAsked === true) continue;
      if (client === undefined || other.respondent?.caller() !== client) return true;
    }
    return false;
  }
}

/** What is done, by name; undefined where servers do not ask back. */
function whatOf({ method, params, replace }: Ask): string | undefined {
  if (method === "resources/read") return method;
  if (method !== "tools/call" && method !== "prompts/get") return undefined;
  const name = replace?.["name"] ?? (isObject(params?.value) ? params.value["name"] : undefined);
  return `${method} ${String(name)}`;
}
