// Tracks open calls on connections that several clients share. On such a pipe a request of the server does not say which call
// it belongs to. Until a tool is known not to send requests, calls of different clients wait for each other: until the first
// is answered, until the server sends a request (then clients get separate instances), or for two seconds, since most
// servers never send any.

import { isObject } from "../../lib/json/json.ts";
import type { ClientResponder } from "../connection/client-responder.ts";
import { CLIENT_FEATURES } from "../connection/era-memory.ts";
import type { ForwardRequest } from "../connection/upstream.ts";
import { LOCAL, canAnswer, type Caller } from "./caller.ts";

export interface TrackedCall {
  /** The method and tool; undefined if servers send no requests during it. */
  readonly operation: string | undefined;
  readonly responder: ClientResponder | undefined;
  readonly caller: Caller | undefined;
  /** Its client can answer some request. */
  readonly canAnswer: boolean;
  /** The server may send requests during it, as far as is known. */
  readonly mayCallBack: boolean;
  /** On the connection that clients share. */
  readonly isShared: boolean;
  /** Requests of the server before it began. */
  readonly requestsBefore: number;
  /** Its position among the open calls. */
  index: number;
}

/** A tool that sends requests usually does so at once: calls that take longer are not waited for. */
const WAIT_MS = 2000;
const MAX_QUIET = 10_000;
const ANY_FEATURE = new Set(CLIENT_FEATURES);

export class CallTracker {
  /**
   * An array in which the last element replaces one that ends. A Set is rehashed every few calls, and each old table
   * keeps the calls of that moment alive, with their buffers, until the next full collection: 20 % more CPU time per call.
   */
  readonly #open: TrackedCall[] = [];
  /** Operations that were answered without a request of the server. */
  readonly #quiet = new Set<string>();
  /** Open calls on a shared connection that may call back. Usually 0, which saves the search through all. */
  #mayCallBack = 0;
  #waiting: (() => void)[] = [];
  #requests = 0;
  /** The server's last request arrived on the stream of its call, as all others will: no call has to wait. */
  #placesRequests = false;

  mayCallBack(request: ForwardRequest): boolean {
    const operation = operationOf(request);
    return operation !== undefined && !this.#quiet.has(operation);
  }

  /** Whether a request of the server on the shared connection can belong to this call only. */
  isUnambiguous(request: ForwardRequest): boolean {
    const mayCallBack = this.mayCallBack(request);
    if (!mayCallBack && this.#mayCallBack === 0) return true;
    for (const other of this.#open) if (other.isShared && (mayCallBack || other.mayCallBack)) return false;
    return true;
  }

  /** The only client with an open call on the shared connection. */
  get onlyCaller(): Caller | undefined {
    let only: Caller | undefined;
    for (const { isShared, caller } of this.#open) {
      if (!isShared) continue;
      if (only !== undefined || caller === undefined) return undefined;
      only = caller;
    }
    return only;
  }

  /** A promise if the call has to wait and then check again. */
  wait(request: ForwardRequest, since: number): Promise<void> | undefined {
    if (this.#open.length === 0 || this.#placesRequests) return undefined;
    const leftMs = since + WAIT_MS - performance.now();
    if (leftMs <= 0 || !this.#conflicts(request)) return undefined;
    return new Promise((resolve) => {
      const resume = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(resume, leftMs);
      this.#waiting.push(resume);
    });
  }

  begin(request: ForwardRequest, { isShared }: { readonly isShared: boolean }): TrackedCall {
    const operation = operationOf(request);
    const call: TrackedCall = {
      operation,
      responder: request.responder,
      caller: request.caller,
      canAnswer: canAnswer(request.caller ?? LOCAL, ANY_FEATURE),
      mayCallBack: operation !== undefined && !this.#quiet.has(operation),
      isShared,
      requestsBefore: this.#requests,
      index: this.#open.length,
    };
    this.#open.push(call);
    if (isShared && call.mayCallBack) this.#mayCallBack++;
    return call;
  }

  end(call: TrackedCall, { isAnswered }: { readonly isAnswered: boolean }): void {
    this.#remove(call);
    if (call.isShared && call.mayCallBack) this.#mayCallBack--;
    const isQuiet = isAnswered && call.mayCallBack && call.requestsBefore === this.#requests;
    if (isQuiet && call.operation !== undefined) {
      if (this.#quiet.size >= MAX_QUIET) this.#quiet.clear();
      this.#quiet.add(call.operation);
    }
    this.#resumeAll();
  }

  /** The server sends a request. Unless it is placed on the stream of its call, it may belong to any open one. */
  calledBack({ hasOwnStream }: { readonly hasOwnStream: boolean }): void {
    this.#placesRequests = hasOwnStream;
    if (!hasOwnStream) {
      this.#requests++;
      for (const { operation } of this.#open) if (operation !== undefined) this.#quiet.delete(operation);
    }
    this.#resumeAll();
  }

  #remove({ index }: TrackedCall): void {
    const last = this.#open.pop();
    if (last === undefined || last.index === index) return;
    this.#open[index] = last;
    last.index = index;
  }

  #resumeAll(): void {
    if (this.#waiting.length > 0) for (const resume of this.#waiting.splice(0)) resume();
  }

  #conflicts(request: ForwardRequest): boolean {
    const mayCallBack = this.mayCallBack(request);
    if (!mayCallBack && this.#mayCallBack === 0) return false;
    const isAnswerable = canAnswer(request.caller ?? LOCAL, ANY_FEATURE);
    const client = request.responder?.caller();
    for (const other of this.#open) {
      if (!other.isShared || !(mayCallBack || other.mayCallBack) || !(isAnswerable || other.canAnswer)) continue;
      // Its requests are known, and a person may take minutes to answer one.
      if (other.responder?.wasAsked === true) continue;
      if (client === undefined || other.responder?.caller() !== client) return true;
    }
    return false;
  }
}

function operationOf({ method, params, replace }: ForwardRequest): string | undefined {
  if (method === "resources/read") return method;
  if (method !== "tools/call" && method !== "prompts/get") return undefined;
  const name = replace?.["name"] ?? (isObject(params?.value) ? params.value["name"] : undefined);
  return `${method} ${String(name)}`;
}
