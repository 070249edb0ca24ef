// The lists of one server, as the server sent them. servers/ fetches them, offers.ts reads them safely.

import type { JsonObject } from "../lib/json/json.ts";

/** Serializes entries for clients. Lone surrogates are replaced: they are valid JSON, but some parsers reject them. */
export function listJson(entries: readonly JsonObject[]): Buffer {
  const json = JSON.stringify(entries);
  // From U+0080 on, JSON.stringify escapes only lone surrogates.
  return Buffer.from(LONE_SURROGATE.test(json) ? json.replaceAll(new RegExp(LONE_SURROGATE, "g"), "$1\\ufffd") : json);
}

const LONE_SURROGATE = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/;

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

/** A server's repaired lists, and the warnings about them. */
export interface Listed {
  readonly listing: Listing;
  /** One line each; equal faults of many entries are one warning. */
  readonly warnings: readonly string[];
  /** One of the lists could not be read: it is empty, and is retried. */
  readonly isPartial: boolean;
}

/** A server that is down keeps its last listing, so that names stay and calls get a useful error. */
export interface ServerListing {
  readonly listing: Listing;
  readonly available: boolean;
  /** Tools that are withheld until a person approves them. */
  readonly withheld?: Withheld;
}

/** By the name of the tool: why it is withheld. */
export type Withheld = ReadonlyMap<string, WithheldReason>;

/** `unknown`: what was approved cannot be read. */
export type WithheldReason = "added" | "changed" | "unknown";
