// IP addresses and CIDR ranges, as text.

import { isIP } from "node:net";

interface Range {
  readonly address: string;
  readonly family: "ipv4" | "ipv6";
  /** Undefined: a single address. */
  readonly bits: number | undefined;
}

/** Throws a RangeError for what is neither an address nor a CIDR range. */
export function parseRange(entry: string): Range {
  const [address = "", length, ...more] = entry.split("/");
  const version = isIP(address);
  const bits = length === undefined ? undefined : Number(length);
  const isLength = length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= (version === 6 ? 128 : 32));
  if (version === 0 || !isLength || more.length > 0) throw new RangeError(`${entry} is no address and no CIDR range`);
  return { address, family: version === 6 ? "ipv6" : "ipv4", bits };
}

export function isRange(entry: string): boolean {
  try {
    parseRange(entry);
    return true;
  } catch {
    return false;
  }
}
