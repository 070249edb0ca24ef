// Short messages at the edge of the page. Never the only place of an error.

import { announcer } from "./announce.svelte.ts";

const SHOWN_MS = 6000;
const MAX_SHOWN = 4;

interface ToastAction {
  readonly label: string;
  readonly run: () => void;
}

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly action: ToastAction | undefined;
}

interface ToastOptions {
  readonly action?: ToastAction | undefined;
  readonly ms?: number;
  /** After it has gone by itself or by hand, not by its action. */
  readonly onGone?: (() => void) | undefined;
}

interface Kept {
  readonly ms: number;
  timer: ReturnType<typeof setTimeout>;
  readonly onGone: (() => void) | undefined;
}

class Toasts {
  list: readonly Toast[] = $state.raw([]);
  readonly #kept = new Map<number, Kept>();
  #lastId = 0;

  show(text: string, { action, ms = SHOWN_MS, onGone }: ToastOptions = {}): void {
    const id = (this.#lastId += 1);
    this.list = [...this.list, { id, text, action }];
    this.#kept.set(id, { ms, timer: setTimeout(() => this.dismiss(id), ms), onGone });
    announcer.say(text);
    const [oldest] = this.list;
    if (this.list.length > MAX_SHOWN && oldest !== undefined) this.dismiss(oldest.id);
  }

  /** Stays while the person is at it; afterwards its time begins again. */
  hold(id: number): void {
    clearTimeout(this.#kept.get(id)?.timer);
  }

  release(id: number): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    clearTimeout(kept.timer);
    kept.timer = setTimeout(() => this.dismiss(id), kept.ms);
  }

  dismiss(id: number): void {
    this.#take(id)?.onGone?.();
  }

  act({ id, action }: Toast): void {
    this.#take(id);
    action?.run();
  }

  #take(id: number): Kept | undefined {
    const kept = this.#kept.get(id);
    clearTimeout(kept?.timer);
    this.#kept.delete(id);
    this.list = this.list.filter((toast) => toast.id !== id);
    return kept;
  }
}

export const toasts = new Toasts();
