// What somebody should know about a server that works: what was wrong with its lists, that they cannot be read again, that
// a tool is no longer what it was. Each is told once when it comes up.

/** Of each kind, and of what was told before. */
const MAX_CHANGES = 20;
const MAX_TOLD = 500;

export class ServerWarnings {
  readonly #tell: (message: string) => void;
  #listing: readonly string[] = [];
  #failure: string | undefined;
  /** By tool; the newest last. */
  readonly #changes = new Map<string, string>();
  readonly #told = new Set<string>();

  constructor(tell: (message: string) => void) {
    this.#tell = tell;
  }

  get all(): readonly string[] {
    return [...(this.#failure === undefined ? [] : [this.#failure]), ...this.#changes.values(), ...this.#listing];
  }

  get ofListing(): readonly string[] {
    return this.#listing;
  }

  /** A new listing was read: what was wrong with the one before is over. */
  listed(warnings: readonly string[]): void {
    this.#failure = undefined;
    this.#listing = warnings;
    for (const warning of warnings) this.#news(warning);
  }

  /** The lists could not be read again. */
  failed(warning: string): void {
    this.#failure = warning;
    this.#news(warning);
  }

  /** A tool is another one than before; stays until the tool changes again. */
  changed(tool: string, warning: string): void {
    this.#changes.delete(tool);
    this.#changes.set(tool, warning);
    const [oldest] = this.#changes.keys();
    if (this.#changes.size > MAX_CHANGES && oldest !== undefined) this.#changes.delete(oldest);
    this.#news(warning);
  }

  #news(warning: string): void {
    if (this.#told.has(warning)) return;
    if (this.#told.size >= MAX_TOLD) this.#told.clear();
    this.#told.add(warning);
    this.#tell(warning);
  }
}
