// Warnings about a server that works: problems of its lists, a failed refresh. Each is reported once.

/** Bound of the kept warnings. */
const MAX_REPORTED = 500;

export class ServerWarnings {
  readonly #report: (message: string) => void;
  #listing: readonly string[] = [];
  #failure: string | undefined;
  readonly #reported = new Set<string>();

  constructor(report: (message: string) => void) {
    this.#report = report;
  }

  get all(): readonly string[] {
    return [...(this.#failure === undefined ? [] : [this.#failure]), ...this.#listing];
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

  #add(warning: string): void {
    if (this.#reported.has(warning)) return;
    if (this.#reported.size >= MAX_REPORTED) this.#reported.clear();
    this.#reported.add(warning);
    this.#report(warning);
  }
}
