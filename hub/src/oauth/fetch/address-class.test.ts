import { describe, expect, it } from "vitest";
import { addressClass, type AddressClass } from "./address-class.ts";

const CLASSES: Readonly<Record<AddressClass, readonly string[]>> = {
  public: ["1.1.1.1", "93.184.216.34", "172.15.255.255", "172.32.0.1", "100.63.255.255", "100.128.0.1", "169.253.0.1"],
  private: ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "fd12:3456::1", "fc00::1"],
  loopback: ["127.0.0.1", "127.255.255.254", "::1", "0:0:0:0:0:0:0:1"],
  metadata: [
    "169.254.169.254",
    "169.254.0.1",
    "fe80::1",
    "fe80::1%eth0",
    "febf::1",
    "fd00:ec2::254",
    "100.100.100.200",
  ],
  reserved: [
    "0.0.0.0",
    "0.1.2.3",
    "::",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "ff02::1",
    "100::1",
  ],
};

describe("A07 the class of an address", () => {
  it.each(Object.entries(CLASSES).flatMap(([name, all]) => all.map((address) => [address, name])))("%s is %s", (a, b) =>
    expect(addressClass(a)).toBe(b),
  );

  it.each([
    ["mapped", "::ffff:127.0.0.1", "loopback"],
    ["mapped, in groups", "::ffff:7f00:1", "loopback"],
    ["mapped, written out", "0:0:0:0:0:ffff:a9fe:a9fe", "metadata"],
    ["mapped", "::ffff:10.1.2.3", "private"],
    ["mapped", "::ffff:1.1.1.1", "public"],
    ["compatible", "::127.0.0.1", "loopback"],
    ["NAT64", "64:ff9b::7f00:1", "loopback"],
    ["NAT64", "64:ff9b::169.254.169.254", "metadata"],
    ["NAT64", "64:ff9b::192.168.0.1", "private"],
    ["NAT64", "64:ff9b::101:101", "public"],
    ["6to4", "2002:7f00:1::", "loopback"],
    ["6to4", "2002:c0a8:101::1", "private"],
    ["NAT64 of a local prefix", "64:ff9b:1::7f00:1", "reserved"],
    ["Teredo", "2001:0:7f00:1::", "reserved"],
  ])("%s %s is judged by the IPv4 address inside: %s", (_form, address, name) =>
    expect(addressClass(address)).toBe(name),
  );

  it.each(["2606:4700::1111", "2a00:1450::1", "2400:cb00::1"])("%s is public", (address) =>
    expect(addressClass(address)).toBe("public"),
  );

  it.each(["", "localhost", "0x7f.1", "2130706433", "127.1", "1.2.3.4.5"])("%j is no address", (text) =>
    expect(addressClass(text)).toBe("reserved"),
  );
});
