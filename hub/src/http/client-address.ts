// The address that a request came from. Behind a trusted proxy it is the one that the proxy saw; used for limits, the audit log and
// logs, never for a decision about access.

import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { parseRange } from "../lib/address-range.ts";

const MAX_KNOWN = 256;
const MAX_KNOWN_LENGTH = 256;
const MAPPED = /^::ffff:(?=\d+\.)/i;

/** The addresses of proxies, as single addresses or CIDR ranges. */
export class TrustedProxies {
  readonly #addresses = new BlockList();
  /** Clients send many requests. */
  readonly #known = new Map<string, string>();

  constructor(entries: readonly string[]) {
    for (const entry of entries) this.#add(entry);
  }

  /** The right-most address of the chain that is no trusted proxy: whatever is left of it may be invented by the client. */
  clientOf(peer: string, forwardedFor: string | undefined): string {
    const key = `${peer} ${forwardedFor ?? ""}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const client = this.#find(peer, forwardedFor);
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    if (key.length <= MAX_KNOWN_LENGTH) this.#known.set(key, client);
    return client;
  }

  #find(peer: string, forwardedFor: string | undefined): string {
    let client = plainAddress(peer);
    const hops = forwardedFor?.split(",") ?? [];
    while (this.#isTrusted(client)) {
      const next = hops.pop();
      if (next === undefined) return client;
      const address = plainAddress(next.trim());
      // What is not an address was not written by a proxy that works.
      if (isIP(address) === 0) return client;
      client = address;
    }
    return client;
  }

  #isTrusted(address: string): boolean {
    const version = isIP(address);
    return version !== 0 && this.#addresses.check(address, version === 6 ? "ipv6" : "ipv4");
  }

  #add(entry: string): void {
    const { address, family, bits } = parseRange(entry);
    if (bits === undefined) this.#addresses.addAddress(address, family);
    else this.#addresses.addSubnet(address, bits, family);
  }
}

type Request = Pick<IncomingMessage, "socket"> & { readonly forwardedAddress?: string | undefined };

/** `forwardedAddress` is set by a listener that has trusted proxies. */
export function addressOf({ socket, forwardedAddress }: Request): string {
  return forwardedAddress ?? plainAddress(socket.remoteAddress ?? "");
}

/** A socket for both IP versions shows IPv4 addresses as parts of IPv6. */
export function plainAddress(address: string): string {
  return address.replace(MAPPED, "");
}
