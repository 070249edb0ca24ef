// The hub's events, as one stream for all tabs of this browser: the first tab reads it and passes it on to the others.

import { api, Problem } from "../lib/hub/api.ts";
import { backoffMs } from "../lib/hub/backoff.ts";

type LiveState = "connecting" | "live" | "waiting" | "stopping";
type Listener = (data: unknown) => void;

interface Passed {
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
}

const TOPICS = "server,catalog,call,approval,config,logins,warning,session";
const LOCK = "plugboard.events";
/** The hub sends something every 15 s. */
const SILENCE_MS = 45_000;
/** A connection that holds this long has succeeded: the next failure is a first one. */
const STABLE_MS = 10_000;

class Live {
  state: LiveState = $state("connecting");
  /** When the hub was heard last. */
  lastSeen = $state(0);
  /** When the next try is due, while waiting. */
  nextTry: number | undefined = $state();
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #onFresh = new Set<() => void>();
  readonly #channel = new BroadcastChannel(LOCK);
  #lastId: string | undefined;
  #failures = 0;
  #wake: (() => void) | undefined;
  /** Without a session there is nothing to read: the stream ends, and goes on after the next sign-in. */
  #isSignedIn = true;
  #reading: AbortController | undefined;
  #isStarted = false;
  #isLeader = false;

  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#channel.addEventListener("message", ({ data }) => this.#passed(data as Passed));
    addEventListener("online", () => this.retry());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.retry();
    });
    // Locks need a secure page; without them each tab has a stream of its own.
    if (navigator.locks === undefined) void this.#lead();
    else {
      this.#channel.postMessage({ event: "?", data: "", id: undefined } satisfies Passed);
      void navigator.locks.request(LOCK, () => this.#lead());
    }
  }

  /** What the page reads from now on is newer than this event: the first stream begins with it, so that no change is missed. */
  startAfter(id: string): void {
    this.#lastId ??= id;
  }

  /** Calls back for each event of a name. Returns the function that ends this. */
  on<T>(event: string, listener: (data: T) => void): () => void {
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners);
    // Which data an event has is the hub's promise.
    listeners.add(listener as Listener);
    return () => listeners.delete(listener as Listener);
  }

  /** Calls back whenever what was read before may be out of date: after a lost connection. */
  onFresh(listener: () => void): () => void {
    this.#onFresh.add(listener);
    return () => this.#onFresh.delete(listener);
  }

  /** Tries now instead of later. */
  retry(): void {
    if (this.#isSignedIn) this.#wake?.();
  }

  setSignedIn(isSignedIn: boolean): void {
    this.#isSignedIn = isSignedIn;
    if (isSignedIn) this.#wake?.();
    else this.#reading?.abort();
  }

  async #lead(): Promise<never> {
    this.#isLeader = true;
    for (;;) {
      const startedAt = performance.now();
      await this.#read().catch((error: unknown) => {
        if (!(error instanceof Problem || error instanceof DOMException)) throw error;
        // Too many wrong sessions: more tries would not help, a new sign-in does.
        if (error instanceof Problem && error.status === 429) api.refused();
      });
      this.#failures = performance.now() - startedAt > STABLE_MS ? 1 : this.#failures + 1;
      await this.#pause(backoffMs(this.#failures));
    }
  }

  async #read(): Promise<void> {
    const silence = new AbortController();
    this.#reading = silence;
    let timer = setTimeout(() => silence.abort(), SILENCE_MS);
    const heard = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
      this.lastSeen = Date.now();
      if (this.state !== "live" && this.state !== "stopping") this.#becomeLive();
    };
    const headers: Record<string, string> = this.#lastId === undefined ? {} : { "last-event-id": this.#lastId };
    try {
      const init = { headers, signal: silence.signal, onBytes: heard };
      await api.stream(`/events?topics=${TOPICS}`, init, (event) => {
        this.#deliver(event);
        this.#channel.postMessage(event satisfies Passed);
      });
    } finally {
      clearTimeout(timer);
    }
  }

  #becomeLive(): void {
    const wasAway = this.state === "waiting";
    this.#setState("live");
    // A reconnect brings the missed events or a reset; a hub that was restarted knows nothing of the old ids.
    if (wasAway) this.#refresh();
  }

  async #pause(ms: number): Promise<void> {
    this.nextTry = this.#isSignedIn ? Date.now() + ms : undefined;
    this.#setState("waiting");
    await new Promise<void>((resolve) => {
      const timer = this.#isSignedIn ? setTimeout(resolve, ms) : undefined;
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
    this.nextTry = undefined;
  }

  #setState(state: LiveState): void {
    this.state = state;
    if (this.#isLeader) this.#channel.postMessage({ event: "=", data: state, id: undefined } satisfies Passed);
  }

  /** From another tab: an event, the leader's state, or a question for it. */
  #passed({ event, data, id }: Passed): void {
    if (event === "?") {
      if (this.#isLeader) this.#setState(this.state);
    } else if (event === "=") {
      const wasAway = this.state === "waiting";
      this.state = data as LiveState;
      if (wasAway && this.state === "live") this.#refresh();
    } else if (!this.#isLeader) {
      this.lastSeen = Date.now();
      this.#deliver({ event, data, id });
    }
  }

  #deliver({ event, data, id }: Passed): void {
    if (id !== undefined) this.#lastId = id;
    if (event === "reset") this.#refresh();
    else if (event === "hub.stopping") this.#setState("stopping");
    else for (const listener of this.#listeners.get(event) ?? []) listener(JSON.parse(data));
  }

  #refresh(): void {
    for (const listener of this.#onFresh) listener();
  }
}

export const live = new Live();
