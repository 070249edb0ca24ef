import { describe, expect, it } from "vitest";
import { isLoopbackHost, parseSafeUrl, toHttpUrl } from "./safe-url.ts";

describe("A08 addresses of a metadata document", () => {
  it.each([
    "https://as.example.com",
    "https://as.example.com:8443/authorize?tenant=a",
    "http://localhost:9000/authorize",
    "http://127.0.0.1/authorize",
    "http://[::1]:9000/authorize",
    "http://as.localhost/authorize",
    "https://a$(id)'.example/$(id)",
  ])("%s can be used", (text) => expect(parseSafeUrl(text, "x").href).toBe(new URL(text).href));

  const REFUSED: readonly unknown[] = [
    "javascript:alert(1)",
    "file:///etc/passwd",
    "data:text/html,x",
    "http://x/$(id)",
    "http://localhost.example.com/",
    "http://127.0.0.1.example.com/",
    "http://10.0.0.1/",
    "--flag",
    "https://a b/",
    "https://a/b c",
    "https://a/\u0000",
    "https://a/b\nc",
    " https://a/",
    "https://a\\@b/",
    "https://user:secret@a/",
    "https://user@a/",
    "https://a/#fragment",
    "//a/b",
    "",
    `https://a/${"x".repeat(10_000)}`,
    // Short as text, long once it is encoded.
    `https://a/${"\u4e00".repeat(1000)}`,
    undefined,
    null,
    7,
    ["https://a/"],
  ];

  it.each(REFUSED.map((text) => [text]))("%j cannot be used", (text) => {
    expect(() => parseSafeUrl(text, "token_endpoint")).toThrow(
      expect.objectContaining({ kind: "UnsafeAddress", message: expect.stringContaining("token_endpoint cannot") }),
    );
  });

  it.each([
    ["localhost", true],
    ["LOCALHOST", true],
    ["localhost.", true],
    ["a.localhost", true],
    ["127.0.0.1", true],
    ["[::1]", true],
    ["[::ffff:127.0.0.1]", true],
    ["localhost.example.com", false],
    ["notlocalhost", false],
    ["0.0.0.0", false],
    ["", false],
  ])("the host %j is this machine: %s", (host, expected) => expect(isLoopbackHost(host)).toBe(expected));

  it.each([
    ["ws://a:1/mcp?x", "http://a:1/mcp?x"],
    ["wss://a/mcp", "https://a/mcp"],
    ["https://ws.example/ws", "https://ws.example/ws"],
  ])("requests about %s go to %s", (url, http) => expect(toHttpUrl(new URL(url)).href).toBe(http));
});
