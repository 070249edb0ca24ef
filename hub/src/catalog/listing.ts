// What one server offers, as the server said it. Fetching it is left to servers/; reading it safely to offers.ts.

/** A JSON object from a server. Unknown fields stay in it and are passed on. */
export type JsonObject = { readonly [key: string]: unknown };

export interface Listing {
  /** Each with a string `name`. */
  readonly tools: readonly JsonObject[];
  /** Each with a string `uri`. */
  readonly resources: readonly JsonObject[];
  /** Each with a string `uriTemplate`. */
  readonly templates: readonly JsonObject[];
  /** Each with a string `name`. */
  readonly prompts: readonly JsonObject[];
}

/** A server that went down keeps its last listing, so that names stay and a call says what is wrong. */
export interface ServerListing {
  readonly listing: Listing;
  readonly available: boolean;
}
