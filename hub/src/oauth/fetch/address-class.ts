// Classifies the network of an IP address by its bytes: other spellings of an address, and IPv6 addresses that carry an IPv4
// address, make no difference.

import { BlockList, isIP } from "node:net";

/** `metadata`: link-local addresses, and those where clouds serve credentials of the machine. */
export type AddressClass = "public" | "private" | "loopback" | "metadata" | "reserved";

/** In order: the first range that an address is in decides. */
const IPV4: readonly (readonly [AddressClass, readonly string[]])[] = [
  ["loopback", ["127.0.0.0/8"]],
  ["metadata", ["169.254.0.0/16", "100.100.100.200/32", "192.0.0.192/32"]],
  ["private", ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"]],
  ["reserved", ["0.0.0.0/8", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24"]],
  ["reserved", ["203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"]],
];

const IPV6: readonly (readonly [AddressClass, readonly string[]])[] = [
  ["loopback", ["::1/128"]],
  ["metadata", ["fe80::/10", "fd00:ec2::254/128", "fd20:ce::254/128"]],
  ["private", ["fc00::/7"]],
  ["reserved", ["2001::/23", "2001:db8::/32", "3fff::/20"]],
  ["public", ["2000::/3"]],
];

const RULES_IPV4 = IPV4.map(([name, ranges]) => [name, blockList(ranges, "ipv4")] as const);
const RULES_IPV6 = IPV6.map(([name, ranges]) => [name, blockList(ranges, "ipv6")] as const);

/** Of an IPv4 or IPv6 address; with a zone (`fe80::1%eth0`) too. Anything else is `reserved`. */
export function addressClass(text: string): AddressClass {
  const [address = ""] = text.split("%");
  if (isIP(address) === 4) return RULES_IPV4.find(([, list]) => list.check(address, "ipv4"))?.[0] ?? "public";
  if (isIP(address) !== 6) return "reserved";
  const embedded = embeddedIPv4(groupsOf(address));
  if (embedded !== undefined) return addressClass(embedded);
  return RULES_IPV6.find(([, list]) => list.check(address, "ipv6"))?.[0] ?? "reserved";
}

function blockList(ranges: readonly string[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const [address = "", bits] of ranges.map((range) => range.split("/"))) {
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/** The eight groups of an IPv6 address. The URL parser writes dotted forms as groups. */
function groupsOf(address: string): number[] {
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const left = numbersIn(head);
  if (tail === undefined) return left;
  const right = numbersIn(tail);
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
}

function numbersIn(groups: string): number[] {
  return groups === "" ? [] : groups.split(":").map((group) => Number.parseInt(group, 16));
}

/** Mapped (::ffff:0:0/96), compatible (::/96), NAT64 (64:ff9b::/96) and 6to4 (2002::/16) addresses. */
function embeddedIPv4(groups: readonly number[]): string | undefined {
  const [a, b, c, d, e, f, g = 0, h = 0] = groups;
  if (a === 0x2002) return dotted(b ?? 0, c ?? 0);
  if (c !== 0 || d !== 0 || e !== 0) return undefined;
  const isMapped = a === 0 && b === 0 && f === 0xffff;
  const isCompatible = a === 0 && b === 0 && f === 0 && (g !== 0 || h > 1);
  const isNat64 = a === 0x64 && b === 0xff9b && f === 0;
  return isMapped || isCompatible || isNat64 ? dotted(g, h) : undefined;
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}
