// What one server offers, as the server said it. Fetching it is left to servers/; reading it safely to offers.ts.

/** A JSON object from a server. Unknown fields stay in it and are passed on. */
export type JsonObject = { readonly [key: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Entries as clients get them. Half a surrogate pair is valid JSON, and yet not for every parser: it is replaced. */
export function listJson(entries: readonly JsonObject[]): Buffer {
  const json = JSON.stringify(entries);
  // JSON.stringify escapes these alone of all characters from U+0080 on.
  return Buffer.from(HALF_PAIR.test(json) ? json.replaceAll(new RegExp(HALF_PAIR, "g"), "$1\\ufffd") : json);
}

const HALF_PAIR = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/;

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

/** What a server's lists were made into, and what was wrong with them. */
export interface Listed {
  readonly listing: Listing;
  /** Each one line; few, however many entries are concerned. */
  readonly warnings: readonly string[];
  /** One of the lists could not be read: it is empty, and worth another try. */
  readonly isPartial: boolean;
}

/** A server that went down keeps its last listing, so that names stay and a call says what is wrong. */
export interface ServerListing {
  readonly listing: Listing;
  readonly available: boolean;
}
