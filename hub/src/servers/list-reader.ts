// Reads the lists of a connected server at its start, when it announces changes, and as a health check, and applies the changes.

import type { Listed } from "../catalog/listing.ts";
import { toHubError, type HubError } from "../errors.ts";
import { ListRefresh, type ListRefreshOptions } from "./connection/list-refresh.ts";
import type { Upstream } from "./connection/upstream.ts";
import type { Offer } from "./offer.ts";
import { isAuthError, withFix } from "./resilience/auth-errors.ts";
import type { ServerState } from "./server-state.ts";

/** For one reading of all lists. */
const READ_MS = 30_000;

export interface ListReaderOptions extends Pick<ListRefreshOptions, "started"> {
  /** The server answers 401 or 403 to its lists: it accepts our credentials for nothing. */
  onRefused(upstream: Upstream, error: HubError): void;
}

export class ListReader {
  readonly #state: ServerState;
  readonly #offer: Offer;
  readonly #options: ListReaderOptions;
  readonly #refresh: ListRefresh;

  constructor(state: ServerState, offer: Offer, options: ListReaderOptions) {
    this.#state = state;
    this.#offer = offer;
    this.#options = options;
    this.#refresh = new ListRefresh({ started: () => options.started(), read: () => this.#reread() });
  }

  /** The server announces a changed list. */
  changed(): void {
    this.#refresh.request();
  }

  /** The first reading of a start. */
  async readFirst(upstream: Upstream, signal: AbortSignal): Promise<void> {
    const state = this.#state;
    const { config, context } = state;
    // An era that the user chose, or that is only a guess, is not stored.
    if (config.era === undefined && upstream.isEraCertain) context.eras.remember(config.transport, upstream.era);
    state.apply({ type: "stage", stage: "listing" });
    const [listed] = await Promise.all([upstream.list(signal), this.#offer.load()]);
    signal.throwIfAborted();
    this.#offer.info = upstream.info;
    // Clients may have seen another listing while the server was on standby.
    const isNew = state.isOnStandby && !this.#offer.equals(listed.listing);
    this.#offer.update(listed);
    if (listed.isPartial) this.changed();
    if (isNew) state.events.onOffer();
  }

  /** A health check: reads the lists as a client would. */
  async check(upstream: Upstream): Promise<void> {
    const listed = await upstream.list(AbortSignal.timeout(READ_MS)).catch((thrown: unknown) => {
      const error = toHubError(thrown);
      if (isAuthError(error)) this.#options.onRefused(upstream, withFix(error, this.#state.config));
      throw error;
    });
    if (this.#state.upstream === upstream) this.#takeOver(listed);
  }

  /** False: the server answers, but its lists could not be read. Worth another try. */
  async #reread(): Promise<boolean> {
    const { upstream, redact } = this.#state;
    if (upstream === undefined) return true;
    try {
      const listed = await upstream.list(AbortSignal.timeout(READ_MS));
      if (this.#state.upstream !== upstream) return true;
      this.#takeOver(listed);
      return !listed.isPartial;
    } catch (thrown) {
      // A lost connection is reported by itself.
      if (this.#state.upstream !== upstream) return true;
      const { message, detail } = toHubError(thrown);
      const why = detail === undefined || detail === "" ? message : `${message}: ${detail}`;
      this.#offer.warnings.failed(redact(`The changed lists cannot be read, the last ones stay: ${why}`));
      return false;
    }
  }

  #takeOver(listed: Listed): void {
    const { redact, events } = this.#state;
    if (this.#offer.equals(listed.listing)) return this.#offer.warnings.listed(listed.warnings.map(redact));
    this.#offer.update(listed);
    this.#state.apply({ type: "listed", tools: this.#offer.toolNames });
    events.onOffer();
  }
}
