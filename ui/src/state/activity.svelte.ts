// Calls that run, and the last ones that ended.

import type { ActiveCall, CallSummary, CallSummaryPage } from "$api/call.ts";
import type { CallFinished, CallStarted } from "$api/event.ts";
import { api, Problem } from "../lib/hub/api.ts";
import { live } from "./live.svelte.ts";

const SHOWN_ENDED = 10;
const MAX_RUNNING = 50;
/** Calls that end are read together: at most so often. */
const READ_MS = 1000;

class Activity {
  running: readonly ActiveCall[] = $state.raw([]);
  /** Newest first, as the call log has them. */
  finished: readonly CallSummary[] = $state.raw([]);
  /** Why neither is known. */
  problem: Problem | undefined = $state.raw();
  #users = 0;
  #stop: (() => void) | undefined;
  /** One change of the page per frame, however many events come. */
  #started: ActiveCall[] = [];
  readonly #ended = new Set<string>();
  #isScheduled = false;
  /** While it runs, ended calls wait for the next reading. */
  #pause: ReturnType<typeof setTimeout> | undefined;
  #hasUnread = false;

  use(): () => void {
    this.#users += 1;
    if (this.#users === 1) this.#stop = this.#follow();
    return () => {
      this.#users -= 1;
      if (this.#users === 0) this.#stop?.();
    };
  }

  async cancel(id: string): Promise<void> {
    try {
      await api.del(`/calls/active/${encodeURIComponent(id)}`);
    } catch (error) {
      // It has ended meanwhile.
      if (!(error instanceof Problem && error.status === 404)) throw error;
    }
  }

  #follow(): () => void {
    const offs = [
      live.on<CallStarted>("call.started", ({ at, ...call }) => {
        this.#started.push({ ...call, started_at: at });
        this.#soon();
      }),
      live.on<CallFinished>("call.finished", ({ id }) => {
        if (id !== null) this.#ended.add(id);
        this.#soon();
        this.#readSoon();
      }),
      live.onFresh(() => this.#readAll()),
    ];
    this.#readAll();
    return () => {
      for (const off of offs) off();
      clearTimeout(this.#pause);
      this.#pause = undefined;
      this.#hasUnread = false;
    };
  }

  /** At once, then after pauses. An event has no id of the call log, so that the calls themselves are read. */
  #readSoon(): void {
    if (this.#pause !== undefined) {
      this.#hasUnread = true;
      return;
    }
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      if (this.#hasUnread) this.#readSoon();
      this.#hasUnread = false;
    }, READ_MS);
    void this.#read(() => this.#readEnded());
  }

  #readAll(): void {
    void this.#read(async () => {
      this.running = await api.get<ActiveCall[]>("/calls/active");
      await this.#readEnded();
    });
  }

  async #readEnded(): Promise<void> {
    this.finished = (await api.get<CallSummaryPage>(`/calls?fields=summary&limit=${SHOWN_ENDED}`)).items;
  }

  async #read(read: () => Promise<void>): Promise<void> {
    try {
      await read();
      this.problem = undefined;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.problem = error;
    }
  }

  #soon(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame(() => {
      this.#isScheduled = false;
      const running = [...this.running, ...this.#started].filter(({ id }) => !this.#ended.has(id));
      this.running = running.slice(-MAX_RUNNING);
      this.#started = [];
      this.#ended.clear();
    });
  }
}

export const activity = new Activity();
