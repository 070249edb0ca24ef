// Keeps the stream for a server's announcements open: the GET stream of a legacy HTTP server, or the subscription to a modern
// one. Reopens it when it ends. Legacy stdio needs no stream.

import { setTimeout as sleep } from "node:timers/promises";
import { HubError } from "../../errors.ts";
import { isObject } from "../../lib/json/json.ts";
import { rawParams, type Reply } from "../../protocol/rpc/jsonrpc.ts";
import type { ServerInfo } from "./handshake.ts";
import type { ForwardRequest } from "./upstream.ts";

export interface AnnouncementsOptions {
  readonly info: ServerInfo;
  forward(forward: ForwardRequest): Promise<Reply>;
  /** Holds the GET stream of a legacy HTTP server; resolves when it ends, with the HTTP status if there was one. */
  readonly listen?: (onOpen?: () => void) => Promise<number | undefined>;
  onListChanged(): void;
  /** The GET stream was reopened: announcements in between are lost. */
  onGap(): void;
}

const REOPEN_MS = [0, 1000, 2000, 5000, 10_000, 30_000] as const;

export class Announcements {
  readonly #options: AnnouncementsOptions;
  readonly #stopped = new AbortController();
  #onOpen: () => void = () => undefined;

  constructor(options: AnnouncementsOptions) {
    this.#options = options;
  }

  /** Resolves when a legacy HTTP server has accepted or refused the stream. Others need no wait. */
  start(): Promise<void> {
    const open = this.#opener();
    if (open === undefined) return Promise.resolve();
    const opened = new Promise<void>((resolve) => {
      this.#onOpen = resolve;
    });
    const ended = keepOpen(open, this.#stopped.signal);
    return this.#options.info.era === "modern" ? Promise.resolve() : Promise.race([opened, ended]);
  }

  stop(): void {
    this.#stopped.abort();
  }

  /** A function that opens the stream once and resolves to whether it should be reopened. */
  #opener(): (() => Promise<boolean>) | undefined {
    const { info: hello, listen } = this.#options;
    const { era, capabilities } = hello;
    if (era === "modern") {
      const wanted = ["tools", "prompts", "resources"].filter((kind) => announces(capabilities[kind]));
      return wanted.length === 0 ? undefined : () => this.#subscribe(wanted);
    }
    if (listen === undefined) return undefined;
    let isFirst = true;
    return async () => {
      // Something may have changed while no stream was open.
      this.#options.onListChanged();
      const isAgain = !isFirst;
      isFirst = false;
      const listening = listen(this.#onOpen);
      if (isAgain) void this.#afterGap();
      const status = await listening;
      // No status: the connection broke before the answer. Only a refusal of the server is final.
      return status === 200 || status === undefined;
    };
  }

  /** Reports a gap, unless the server has forgotten the session: any request will report that, and a new session has no gap. */
  async #afterGap(): Promise<void> {
    try {
      await this.#options.forward({ method: "ping", params: undefined, signal: this.#stopped.signal });
      if (!this.#stopped.signal.aborted) this.#options.onGap();
    } catch {
      // A lost connection is reported by itself.
    }
  }

  async #subscribe(kinds: readonly string[]): Promise<boolean> {
    const notifications = Object.fromEntries(kinds.map((kind) => [`${kind}ListChanged`, true]));
    const reply = await this.#options.forward({
      method: "subscriptions/listen",
      params: rawParams({ notifications }),
      timeoutMs: 0,
      signal: this.#stopped.signal,
      // Also on the acknowledgement: something may have changed while no stream was open.
      onNotification: () => this.#options.onListChanged(),
    });
    return reply.ok;
  }
}

/** Opens a stream, and reopens it when it ends, until it is stopped or `open` resolves to false. */
export async function keepOpen(open: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
  for (let tries = 0; !signal.aborted; tries++) {
    const openedAt = performance.now();
    try {
      if (!(await open())) return;
    } catch (error) {
      if (!(error instanceof HubError) || signal.aborted) return;
    }
    if (performance.now() - openedAt > 60_000) tries = 0;
    const delay = REOPEN_MS[Math.min(tries, REOPEN_MS.length - 1)];
    await sleep(delay, undefined, { signal, ref: false }).catch(() => undefined); // stopped while it waited
  }
}

function announces(capability: unknown): boolean {
  return isObject(capability) && capability["listChanged"] === true;
}
