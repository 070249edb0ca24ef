// The current catalog: rebuilt when the config or the listing of a server changes.

import { Catalog } from "../catalog/catalog.ts";
import type { HubConfig } from "../config/schema/types.ts";
import type { HubEvents } from "../events.ts";
import type { Supervisor } from "../servers/supervisor.ts";

export interface LiveCatalogOptions {
  readonly config: () => HubConfig;
  readonly supervisor: Pick<Supervisor, "listings">;
  readonly events: HubEvents;
  /** Who may use a group that does not say so. */
  readonly defaultAccess?: readonly string[] | undefined;
}

export class LiveCatalog {
  readonly #options: LiveCatalogOptions;
  #built: Catalog;
  #timer: NodeJS.Timeout | undefined;
  #buildMs = 0;

  constructor(options: LiveCatalogOptions) {
    this.#options = options;
    this.#built = this.#build(undefined);
  }

  /** The current catalog, including the last change. */
  get current(): Catalog {
    if (this.#timer !== undefined) this.rebuild();
    return this.#built;
  }

  /** The last catalog that was built: a scheduled build is not brought forward. */
  get built(): Catalog {
    return this.#built;
  }

  /** Debounced: at most a fifth of the time is spent building catalogs. */
  scheduleRebuild(): void {
    this.#timer ??= setTimeout(() => this.rebuild(), 4 * this.#buildMs);
  }

  rebuild(): void {
    this.close();
    const { events } = this.#options;
    const startedAt = performance.now();
    const previous = this.#built;
    const catalog = this.#build(previous);
    this.#built = catalog;
    this.#buildMs = performance.now() - startedAt;
    for (const message of catalog.warnings) {
      if (!previous.warnings.includes(message)) events.emit("warning", { message });
    }
    events.emit("catalog.changed", { catalog, previous });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #build(previous: Catalog | undefined): Catalog {
    const { config, supervisor, defaultAccess } = this.#options;
    return Catalog.build(config(), supervisor.listings(), { defaultAccess, previous });
  }
}
