// Warnings about a server that works: problems of its lists, a failed refresh, changed tools. Each is reported once.

import { evictOldest } from "@plugboard/shared/evict";

/** Bounds of the kept warnings. */
const MAX_CHANGES = 20;
const MAX_REPORTED = 500;

export class ServerWarnings {
  readonly #report: (message: string) => void;
  #listing: readonly string[] = [];
  #failure: string | undefined;
  /** By tool, the newest last. */
  readonly #changes = new Map<string, string>();
  readonly #reported = new Set<string>();

  constructor(report: (message: string) => void) {
    this.#report = report;
  }

  get all(): readonly string[] {
    return [...(this.#failure === undefined ? [] : [this.#failure]), ...this.#changes.values(), ...this.#listing];
  }

  get ofListing(): readonly string[] {
    return this.#listing;
  }

  /** A new listing was read: warnings about the one before are dropped. */
  listed(warnings: readonly string[]): void {
    this.#failure = undefined;
    this.#listing = warnings;
    for (const warning of warnings) this.#add(warning);
  }

  /** A refresh of the lists failed. */
  failed(warning: string): void {
    this.#failure = warning;
    this.#add(warning);
  }

  /** A tool has changed. Stays until it changes again. */
  changed(tool: string, warning: string): void {
    this.#changes.delete(tool);
    this.#changes.set(tool, warning);
    evictOldest(this.#changes, MAX_CHANGES);
    this.#add(warning);
  }

  #add(warning: string): void {
    if (this.#reported.has(warning)) return;
    if (this.#reported.size >= MAX_REPORTED) this.#reported.clear();
    this.#reported.add(warning);
    this.#report(warning);
  }
}
