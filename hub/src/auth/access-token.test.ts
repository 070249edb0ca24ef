import { describe, expect, it } from "vitest";
import { isAccessToken, makeAccessToken, startOf } from "./access-token.ts";

describe("AU-3 the text of an access token", () => {
  it("is different each time, has a checksum, and shows its first characters", () => {
    const tokens = Array.from({ length: 100 }, makeAccessToken);
    expect(new Set(tokens).size).toBe(100);
    for (const token of tokens) {
      expect(token).toMatch(/^pbt_[\w-]{43}[0-9A-Za-z]{6}$/);
      expect(isAccessToken(token)).toBe(true);
      expect(startOf(token)).toBe(token.slice(0, 8));
    }
  });

  it("is not one any more if a character is changed, missing or added", () => {
    const token = makeAccessToken();
    for (let at = 4; at < token.length; at++) {
      const other = token[at] === "A" ? "B" : "A";
      expect(isAccessToken(token.slice(0, at) + other + token.slice(at + 1))).toBe(false);
    }
    for (const text of [token.slice(0, -1), `${token}A`, token.toUpperCase(), "pbt_", "", `x${token}`]) {
      expect(isAccessToken(text)).toBe(false);
    }
  });
});
