// Which addresses of a host may be connected to, if the host was named in someone else's document.

import type { LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { HubError, type Delivery } from "../../errors.ts";
import { errorCode } from "@plugboard/shared/error-code";
import { addressClass, type AddressClass } from "./address-class.ts";
import { bareHost, isLoopbackHost } from "./safe-url.ts";

export interface AddressRules {
  /** The address that the operator typed. */
  readonly server: URL;
  readonly allowPrivate: boolean;
  readonly lookup: LookupFunction;
}

/** The addresses of a host that may be connected to. Rejects with UnsafeAddress if there are none. */
export async function allowedAddresses(url: URL, rules: AddressRules): Promise<LookupAddress[]> {
  const found = await addressesOf(url, rules.lookup);
  const isServer = url.origin === rules.server.origin;
  const classes = isServer ? undefined : await classesFor(rules);
  const allowed = found.filter(({ address }) => {
    const kind = addressClass(address);
    // The operator typed this very address.
    if (classes === undefined) return kind !== "metadata";
    return classes.has(kind) && (url.protocol === "https:" || kind === "loopback");
  });
  if (allowed.length > 0) return allowed;
  throw notAllowed(url, found);
}

/**
 * What addresses that a server names may be. Loopback only if the operator wrote the server's address as loopback: the server's
 * owner decides what its name resolves to. For private addresses the name counts, since those need TLS.
 */
async function classesFor({ server, allowPrivate, lookup }: AddressRules): Promise<ReadonlySet<AddressClass>> {
  if (isLoopbackHost(server.hostname))
    return new Set(["public", "loopback", ...(allowPrivate ? ["private" as const] : [])]);
  if (allowPrivate) return new Set(["public", "private"]);
  const own = await addressesOf(server, lookup).catch(() => []);
  const isPrivate = own.length > 0 && own.every(({ address }) => addressClass(address) === "private");
  return new Set(isPrivate ? ["public", "private"] : ["public"]);
}

function addressesOf(url: URL, lookup: LookupFunction): Promise<LookupAddress[]> {
  const host = bareHost(url.hostname);
  const family = isIP(host);
  if (family !== 0) return Promise.resolve([{ address: host, family }]);
  return new Promise((resolve, reject) => {
    lookup(host, { all: true }, (error, found, foundFamily) => {
      if (error !== null) reject(unreachable(url, error, "unsent"));
      else if (typeof found !== "string") resolve(found);
      else resolve([{ address: found, family: foundFamily ?? isIP(found) }]);
    });
  });
}

function notAllowed(url: URL, found: readonly LookupAddress[]): HubError {
  const kinds = [...new Set(found.map(({ address }) => addressClass(address)))];
  const isPlain = url.protocol === "http:" && kinds.every((kind) => kind === "public" || kind === "private");
  const what = isPlain ? "is not https" : `is ${kinds.length === 0 ? "unknown" : kinds.map(inWords).join(" and ")}`;
  const hint = 'If that is right, set "auth": {"allow_private": true} in the server\'s entry';
  const details = !isPlain && kinds.includes("private") ? { hint } : {};
  return new HubError("UnsafeAddress", `The login would use ${url.origin}, which ${what}`, details);
}

function inWords(kind: AddressClass): string {
  switch (kind) {
    case "public":
      return "a public address";
    case "private":
      return "an address of a private network";
    case "loopback":
      return "an address of this machine";
    case "metadata":
      return "a link-local address";
    case "reserved":
      return "a reserved address";
  }
}

/** A connection that failed, as a HubError. */
export function unreachable(url: URL, error: unknown, delivery: Delivery): HubError {
  // All addresses failed: report the first error.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const code = errorCode(first) ?? errorCode(error);
  const message = delivery === "unsent" ? `${url.origin} cannot be reached` : `The connection to ${url.origin} broke`;
  return new HubError("ConnectionFailed", message, { ...(code === undefined ? {} : { detail: code }), delivery });
}
