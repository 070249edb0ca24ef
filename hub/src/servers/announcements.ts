// Keeps an ear on a remote or modern server's announcements: the GET stream of a legacy HTTP server, the subscription of
// a modern one. Opened again when it ends, for as long as the connection lives. Legacy stdio needs none of this.

import { setTimeout as sleep } from "node:timers/promises";
import { HubError } from "../errors.ts";
import { isObject } from "../wire/json.ts";
import { rawParams, type Reply } from "../wire/jsonrpc.ts";
import type { Hello } from "./handshake.ts";
import type { Ask } from "./upstream.ts";

export interface AnnouncementsOptions {
  readonly hello: Hello;
  ask(ask: Ask): Promise<Reply>;
  /** Holds the GET stream of a legacy HTTP server; resolves when it ends, with the HTTP status if there was one. */
  readonly listen?: (onOpen?: () => void) => Promise<number | undefined>;
  onListChanged(): void;
  /** The GET stream is opened once more: what the server said meanwhile is lost. */
  onGap(): void;
}

const REOPEN_MS = [0, 1000, 2000, 5000, 10_000, 30_000] as const;

export class Announcements {
  readonly #options: AnnouncementsOptions;
  readonly #stopped = new AbortController();
  #isHeard: () => void = () => undefined;

  constructor(options: AnnouncementsOptions) {
    this.#options = options;
  }

  /** Resolves when a legacy HTTP server has taken the stream or refused it; with others there is nothing to wait for. */
  start(): Promise<void> {
    const open = this.#opener();
    if (open === undefined) return Promise.resolve();
    const opened = new Promise<void>((resolve) => {
      this.#isHeard = resolve;
    });
    const ended = keepOpen(open, this.#stopped.signal);
    return this.#options.hello.era === "modern" ? Promise.resolve() : Promise.race([opened, ended]);
  }

  stop(): void {
    this.#stopped.abort();
  }

  /** How to open the stream once: resolves to false when there is no point in opening it again. */
  #opener(): (() => Promise<boolean>) | undefined {
    const { hello, listen } = this.#options;
    const { era, capabilities } = hello;
    if (era === "modern") {
      const wanted = ["tools", "prompts", "resources"].filter((kind) => announces(capabilities[kind]));
      return wanted.length === 0 ? undefined : () => this.#subscribe(wanted);
    }
    if (listen === undefined) return undefined;
    let isFirst = true;
    return async () => {
      // Something may have changed while nobody listened.
      this.#options.onListChanged();
      const isAgain = !isFirst;
      isFirst = false;
      const listening = listen(this.#isHeard);
      if (isAgain) void this.#afterGap();
      const status = await listening;
      // Without a status the connection broke before the answer; only the server's own refusal is final.
      return status === 200 || status === undefined;
    };
  }

  /** A server that forgot the session meanwhile says so to any question; then there will be a new one, and no gap to tell. */
  async #afterGap(): Promise<void> {
    try {
      await this.#options.ask({ method: "ping", params: undefined, signal: this.#stopped.signal });
      if (!this.#stopped.signal.aborted) this.#options.onGap();
    } catch {
      // A lost connection is reported by itself.
    }
  }

  async #subscribe(kinds: readonly string[]): Promise<boolean> {
    const notifications = Object.fromEntries(kinds.map((kind) => [`${kind}ListChanged`, true]));
    const reply = await this.#options.ask({
      method: "subscriptions/listen",
      params: rawParams({ notifications }),
      timeoutMs: 0,
      signal: this.#stopped.signal,
      // Also on the first message, which acknowledges it: something may have changed while nobody listened.
      onNotification: () => this.#options.onListChanged(),
    });
    return reply.ok;
  }
}

/** Opens a stream, and again each time that it ends, until it is stopped or `open` says that there is no point. */
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
