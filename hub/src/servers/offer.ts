// The current or last known listing of one server, its description, and the warnings about both.

import { isDeepStrictEqual } from "node:util";
import type { Listed, Listing } from "../catalog/listing.ts";
import type { ServerInfo } from "./connection/handshake.ts";
import type { ServerState } from "./server-state.ts";
import { ServerWarnings } from "./warnings.ts";

export class Offer {
  readonly #state: ServerState;
  readonly warnings: ServerWarnings;
  #listing: Listing | undefined;
  #loading: Promise<void> | undefined;
  /** The server's description of itself when it was last connected. */
  info: ServerInfo | undefined;

  constructor(state: ServerState) {
    this.#state = state;
    this.warnings = new ServerWarnings((message) => state.events.onWarning(message));
  }

  get listing(): Listing | undefined {
    return this.#listing;
  }

  get toolNames(): string[] {
    return (this.#listing?.tools ?? []).map((tool) => String(tool["name"]));
  }

  /** Reads the listing of an earlier run of the hub, once. A listing of this run wins. */
  load(): Promise<void> {
    return (this.#loading ??= this.#load());
  }

  async #load(): Promise<void> {
    const { context, config } = this.#state;
    const known = await context.listings?.find(config);
    if (known === undefined || this.#listing !== undefined) return;
    this.#listing = known.listing;
    this.info = known.introduction;
    this.warnings.listed(known.warnings);
    // Also before it has started: what it lists then is compared with this.
    context.approvals?.listed(config, known.listing.tools);
  }

  equals(listing: Listing): boolean {
    return isDeepStrictEqual(listing, this.#listing);
  }

  /** Takes over a listing as it was just read. */
  update({ listing, warnings, isPartial }: Listed): void {
    const { context, config, redact } = this.#state;
    this.#listing = listing;
    this.warnings.listed(warnings.map(redact));
    // Tools that could not be read are not gone.
    if (!isPartial) context.approvals?.listed(config, listing.tools);
    context.listings?.save(config, {
      listing,
      introduction: this.info,
      warnings: this.warnings.ofListing,
    });
  }
}
