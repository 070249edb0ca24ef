// Keyboard shortcuts. The shell has some everywhere; a screen or a list adds its own while it is shown.

import { prefs } from "./state/prefs.svelte.ts";

/**
 * What a key does: "j", "g s" (one after the other), "Mod+k" (Ctrl, or ⌘ on a Mac), "Escape". A function that returns false has
 * not used the key.
 */
export type Keymap = Readonly<Record<string, (event: KeyboardEvent) => unknown>>;

/** Two keys belong together if the second follows in this time. */
const SEQUENCE_MS = 1000;

export const isMac = typeof navigator !== "undefined" && navigator.platform.startsWith("Mac");

class Keys {
  /** The newest first: a list inside of a screen wins. */
  #maps: Keymap[] = [];
  #first: { readonly key: string; readonly at: number } | undefined;

  start(): void {
    addEventListener("keydown", (event) => this.#pressed(event));
  }

  /** Returns the function that takes the keys away again: `$effect(() => keys.use({ … }))`. */
  use(map: Keymap): () => void {
    this.#maps = [map, ...this.#maps];
    return () => {
      this.#maps = this.#maps.filter((each) => each !== map);
    };
  }

  #pressed(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.isComposing) return;
    const key = nameOf(event);
    if (key.length === 1 && (!prefs.singleKeys || isTyping(event))) return;
    // A dialog has the keyboard for itself.
    if (document.querySelector("dialog[open]") !== null && !key.startsWith("Mod+")) return;
    const first = this.#first !== undefined && event.timeStamp - this.#first.at < SEQUENCE_MS ? this.#first.key : "";
    this.#first = undefined;
    if (this.#run(`${first} ${key}`, event) || this.#run(key, event)) event.preventDefault();
    else if (this.#maps.some((map) => Object.keys(map).some((each) => each.startsWith(`${key} `))))
      this.#first = { key, at: event.timeStamp };
  }

  #run(key: string, event: KeyboardEvent): boolean {
    return this.#maps.some((map) => Object.hasOwn(map, key) && map[key]?.(event) !== false);
  }
}

function nameOf({ key, metaKey, ctrlKey, altKey }: KeyboardEvent): string {
  const mod = isMac ? metaKey : ctrlKey;
  return `${mod ? "Mod+" : ""}${altKey ? "Alt+" : ""}${key.length === 1 && mod ? key.toLowerCase() : key}`;
}

function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));
}

export const keys = new Keys();
