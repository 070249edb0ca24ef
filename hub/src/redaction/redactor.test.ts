import { describe, expect, it } from "vitest";
import { Redactor } from "./redactor.ts";

const SECRET = "s3cr3t/to+kan=42";

function redactorOf(...secrets: string[]): Redactor {
  const redactor = new Redactor();
  redactor.setSecrets("a", secrets);
  return redactor;
}

function redact(value: unknown, redactor = redactorOf(SECRET)): unknown {
  const { json } = redactor.redact(Buffer.from(JSON.stringify(value)));
  return JSON.parse(String(json));
}

describe("Redactor", () => {
  it.each([
    ["plain", SECRET],
    ["inside a text", `curl -H 'X: ${SECRET}' http://x`],
    ["base64", Buffer.from(SECRET).toString("base64")],
    ["base64url", Buffer.from(SECRET).toString("base64url")],
    ["Basic authorization", `Basic ${Buffer.from(`me:${SECRET}`).toString("base64")}`],
    ["hex", Buffer.from(SECRET).toString("hex")],
    ["hex in capitals", Buffer.from(SECRET).toString("hex").toUpperCase()],
    ["URL-encoded", encodeURIComponent(SECRET)],
    ["URL-encoded in lower case", encodeURIComponent(SECRET).replaceAll(/%../g, (hex) => hex.toLowerCase())],
    ["JSON in a string", JSON.stringify({ a: [SECRET] })],
    ["JSON in a string in a string", JSON.stringify(JSON.stringify({ a: [SECRET] }))],
    ["JSON in a URL", encodeURIComponent(JSON.stringify({ a: SECRET }))],
  ])("T12 masks a secret: %s", (_form, text) => {
    const out = JSON.stringify(redact({ content: [{ type: "text", text }] }));
    expect(out).toContain("***");
    expect(out).not.toMatch(/s3cr3t|czNjcjN0|733363/i);
  });

  it("T12 masks a secret with every character escaped", () => {
    const escaped = SECRET.split("")
      .map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join("");
    const { json } = redactorOf(SECRET).redact(Buffer.from(`{"text":"a ${escaped} b"}`));
    expect(String(json)).toBe('{"text":"a *** b"}');
  });

  it("T12 masks a secret in a member name and in a number", () => {
    expect(redact({ [SECRET]: 1 })).toEqual({ "***": 1 });
    expect(redact({ pin: 12345678, n: 5 }, redactorOf("12345678"))).toEqual({ pin: "***", n: 5 });
    const { json } = redactorOf("12345678901234567890").redact(Buffer.from('{"n":12345678901234567890}'));
    expect(String(json)).toBe('{"n":"***"}');
  });

  it("T12 masks parts of a setting: the token of a header, the password of a URL, the lines of a key", () => {
    const redactor = redactorOf(
      "Bearer abcdef123456",
      "postgres://me:hunter%2F2x@db/x?sslmode=require",
      "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\n-----END KEY-----\n",
    );
    expect(redact({ t: "it is abcdef123456" }, redactor)).toEqual({ t: "it is ***" });
    expect(redact({ t: "hunter/2x" }, redactor)).toEqual({ t: "***" });
    expect(redact({ t: "  MIIEvQIBADANBgkqhkiG9w0" }, redactor)).toEqual({ t: "  ***" });
  });

  it("T12 masks any value of a member with a credential name", () => {
    const value = { user: "me", Password: "x", nested: [{ "X-API-Key": "k", apiKey: { value: "k" } }], pin: 1 };
    expect(redact(value, new Redactor())).toEqual({
      user: "me",
      Password: "***",
      nested: [{ "X-API-Key": "***", apiKey: "***" }],
      pin: 1,
    });
    expect(redact({ _meta: { progressToken: 7 }, max_tokens: 10 }, new Redactor())).toEqual({
      _meta: { progressToken: 7 },
      max_tokens: 10,
    });
  });

  it("T12 masks such members in JSON inside text", () => {
    const text = `Config: ${JSON.stringify({ password: 'a"b', n: 1, token: { a: "b" } }, null, 2)} and {'api_key': 'z'}`;
    const out = JSON.stringify(redact({ content: [{ type: "text", text }] }, new Redactor()));
    expect(out).toContain('{\\n  \\"password\\": \\"***\\",\\n  \\"n\\": 1,\\n  \\"token\\": ***\\n}');
    expect(out).toContain("{'api_key': '***'}");
  });

  it("T12 masks such members at every nesting level, and keeps JSON inside text valid", () => {
    let text = JSON.stringify({ password: 'a"\\b\\', next: 1 });
    for (let level = 0; level < 4; level++) {
      const out = redact({ text }, new Redactor());
      let inner = (out as { text: string }).text;
      for (let count = 0; count < level; count++) inner = (JSON.parse(inner) as { inner: string }).inner;
      expect(JSON.parse(inner)).toEqual({ password: "***", next: 1 });
      text = JSON.stringify({ inner: text });
    }
  });

  it("T12 masks everything if a secret spans several values or is formed by masking another", () => {
    expect(redact(["xa", "bx"], redactorOf('a","b'))).toBe("***");
    expect(redact({ a: "abWXYZcd" }, redactorOf("ab***cd", "WXYZ"))).toBe("***");
  });

  it("RS-4 returns the same buffer if there is nothing to mask", () => {
    const bytes = Buffer.from('{"big": 12345678901234567890, "text":"100% \\"sure\\" \\u00e9"}');
    expect(redactorOf(SECRET).redact(bytes).json).toBe(bytes);
    expect(redactorOf(SECRET).redact(undefined)).toEqual({ json: undefined, truncated: false });
  });

  it("T12 forgets the secrets of a removed server and keeps the others", () => {
    const redactor = redactorOf("secret-of-a");
    redactor.setSecrets("b", ["secret-of-b"]);
    redactor.setSecrets("a", []);
    expect(redact({ a: "secret-of-a", b: "secret-of-b" }, redactor)).toEqual({ a: "secret-of-a", b: "***" });
  });

  it("T12 does not mask common words, even if they are configured as secrets", () => {
    const value = { ok: true, mode: "production", path: "/tmp/x", n: null };
    expect(redact(value, redactorOf("true", "production", "/tmp", "null", "None"))).toEqual(value);
  });

  it("T12 does not mask texts shorter than four characters", () => {
    expect(redact({ a: "abc" }, redactorOf("abc", ""))).toEqual({ a: "abc" });
  });

  it("RS-4 truncates at 64 KiB, reports it, and gives valid JSON", () => {
    const value = { content: [{ type: "text", text: "é".repeat(1_000_000) }] };
    const { json, truncated } = new Redactor().redact(Buffer.from(JSON.stringify(value)));
    expect(truncated).toBe(true);
    expect(json?.length).toBeLessThanOrEqual(65536);
    expect(json?.length).toBeGreaterThan(65500);
    expect(JSON.parse(String(json))).toMatchObject({ content: [{ type: "text" }] });
  });

  it("T12 shows no part of a secret that crosses the cut", () => {
    for (let offset = 0; offset < 40; offset++) {
      const text = "x".repeat(65536 - 30 + offset) + SECRET + "y".repeat(100_000);
      const { json } = redactorOf(SECRET).redact(Buffer.from(JSON.stringify({ text })));
      expect(String(json)).not.toContain("s3cr");
      expect(() => JSON.parse(String(json)) as unknown).not.toThrow();
    }
  });

  it("T41 the output is one line for any input", () => {
    const bytes = Buffer.from('{\n  "tool": "a\\n{\\"level\\":\\"error\\"}"\r\n}');
    expect(String(new Redactor().redact(bytes).json)).not.toMatch(/[\n\r]/);
  });

  it("T12 masks secrets in plain text", () => {
    expect(redactorOf(SECRET).redactText(`failed: ${SECRET} at x`)).toBe("failed: *** at x");
  });

  it("T12 accepts prototype keys and deep nesting", () => {
    const { json } = new Redactor().redact(Buffer.from('{"__proto__":{"password":"x"},"constructor":1}'));
    expect(String(json)).toBe('{"__proto__":{"password":"***"},"constructor":1}');
    const deep = Buffer.from(`${"[".repeat(20_000)}{"password":"x"}${"]".repeat(20_000)}`);
    expect(String(new Redactor().redact(deep).json)).not.toContain("x");
  });
});
