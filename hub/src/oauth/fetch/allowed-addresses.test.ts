import type { LookupFunction } from "node:net";
import { describe, expect, it } from "vitest";
import { allowedAddresses } from "./allowed-addresses.ts";

const NAMES: Readonly<Record<string, readonly string[]>> = {
  "mcp.example.com": ["93.184.216.34"],
  "as.example.com": ["93.184.216.35"],
  "mcp.corp.example": ["10.1.1.1"],
  "mixed.example": ["93.184.216.34", "10.1.1.1"],
  "as.corp.example": ["10.1.1.2"],
  "resolves-to-loopback.example": ["127.0.0.1"],
  "metadata.example": ["169.254.169.254"],
  localhost: ["127.0.0.1", "::1"],
};

const lookup: LookupFunction = (host, _options, callback) => {
  const found = NAMES[host];
  if (found === undefined) callback(Object.assign(new Error("unknown"), { code: "ENOTFOUND" }), []);
  else
    callback(
      null,
      found.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
};

async function outcome(server: string, address: string, allowPrivate: boolean): Promise<string> {
  const rules = { server: new URL(server), allowPrivate, lookup };
  return allowedAddresses(new URL(address), rules).then(
    (found) => found.map((one) => one.address).join(" "),
    (error: { kind: string }) => error.kind,
  );
}

const PUBLIC = "https://mcp.example.com/mcp";

describe("A07 which addresses a server's metadata may name", () => {
  it.each([
    // server, address in its metadata, allow_private
    [PUBLIC, "http://127.0.0.1:1/", false],
    [PUBLIC, "https://127.0.0.1:1/", false],
    [PUBLIC, "https://localhost:1/", false],
    [PUBLIC, "https://[::1]:1/", false],
    [PUBLIC, "https://[::ffff:127.0.0.1]:1/", false],
    [PUBLIC, "https://[64:ff9b::7f00:1]:1/", false],
    [PUBLIC, "https://0x7f.1:1/", false],
    [PUBLIC, "https://2130706433:1/", false],
    [PUBLIC, "https://0177.0.0.1:1/", false],
    [PUBLIC, "https://127.1:1/", false],
    [PUBLIC, "https://0:1/", false],
    [PUBLIC, "https://169.254.169.254/latest/meta-data/", false],
    [PUBLIC, "https://metadata.example/", true],
    [PUBLIC, "https://[fe80::1]/", true],
    [PUBLIC, "https://[fd00:ec2::254]/", true],
    [PUBLIC, "https://10.0.0.1/", false],
    [PUBLIC, "https://as.corp.example/", false],
    [PUBLIC, "https://resolves-to-loopback.example/", true],
    [PUBLIC, "http://93.184.216.34/", false],
    [PUBLIC, "http://10.0.0.1/", true],
    // The owner of a name decides what it resolves to, so that it makes no address of this machine usable.
    ["https://resolves-to-loopback.example/mcp", "http://127.0.0.1:1/", false],
    ["https://resolves-to-loopback.example/mcp", "https://as.corp.example/", false],
    ["https://mixed.example/mcp", "https://as.corp.example/", false],
    ["https://mcp.corp.example/mcp", "https://127.0.0.1:1/", false],
    ["https://mcp.corp.example/mcp", "http://10.1.1.2/", false],
    ["http://localhost:9/mcp", "https://10.0.0.1/", false],
    ["http://169.254.1.1/mcp", "http://169.254.1.1/", true],
  ])("a server at %s cannot name %s (allow_private: %s)", async (server, address, allowPrivate) => {
    expect(await outcome(server, address, allowPrivate)).toBe("UnsafeAddress");
  });

  it.each([
    ["http://127.0.0.1:9/mcp", "http://127.0.0.1:1/", false, "127.0.0.1"],
    ["http://127.0.0.1:9/mcp", "http://[::1]:1/", false, "::1"],
    ["http://localhost:9/mcp", "http://localhost:1/", false, "127.0.0.1 ::1"],
    ["http://[::1]:9/mcp", "http://127.0.0.1:1/", false, "127.0.0.1"],
    ["http://127.0.0.1:9/mcp", "https://as.example.com/", false, "93.184.216.35"],
    ["https://10.0.0.1/mcp", "https://as.corp.example:1/", false, "10.1.1.2"],
    ["https://mcp.corp.example/mcp", "https://as.corp.example:1/", false, "10.1.1.2"],
    [PUBLIC, "https://as.corp.example:1/", true, "10.1.1.2"],
    [PUBLIC, "https://as.example.com/", false, "93.184.216.35"],
    [PUBLIC, "https://mixed.example/", false, "93.184.216.34"],
    // The operator's own address is used as it is typed.
    ["http://10.0.0.1:8080/mcp", "http://10.0.0.1:8080/x", false, "10.0.0.1"],
    ["http://0.0.0.0:8080/mcp", "http://0.0.0.0:8080/x", false, "0.0.0.0"],
    ["http://resolves-to-loopback.example:1/mcp", "http://resolves-to-loopback.example:1/x", false, "127.0.0.1"],
  ])("a server at %s can name %s (allow_private: %s): %s", async (server, address, allowPrivate, connected) => {
    expect(await outcome(server, address, allowPrivate)).toBe(connected);
  });

  it("an unknown name is a failed connection", async () => {
    expect(await outcome(PUBLIC, "https://unknown.example/", false)).toBe("ConnectionFailed");
  });

  it("says how to allow a private address", async () => {
    const rules = { server: new URL(PUBLIC), allowPrivate: false, lookup };
    await expect(allowedAddresses(new URL("https://10.0.0.1/"), rules)).rejects.toMatchObject({
      message: "The login would use https://10.0.0.1, which is an address of a private network",
      hint: expect.stringContaining("allow_private"),
    });
  });
});
