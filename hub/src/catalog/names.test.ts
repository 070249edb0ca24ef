import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { exposeNames, findPlainTool, mayBeHashedName } from "./names.ts";
import type { NameParts } from "./names.ts";

const several = { several: true, maxLength: 64 };
const one = { several: false, maxLength: 64 };
const HASHED = /^[A-Za-z0-9_-]+--[a-z2-7]{8}$/;

const name = (server: string, own: string, form = several): string => exposeNames([{ server, own }], form)[0] ?? "";

describe("plain names", () => {
  it.each([
    ["git", "log", "git__log"],
    ["git", "Log", "git__Log"],
    ["a", "b__c", "a__b__c"],
    ["a_b", "c", "a_b__c"],
    ["git", "constructor", "git__constructor"],
    ["git", "x--abc", "git__x--abc"],
    ["git", "x--abcdefghi", "git__x--abcdefghi"],
    ["a".repeat(30), "b".repeat(32), `${"a".repeat(30)}__${"b".repeat(32)}`],
  ])("%s + %s with several servers is %s", (server, own, expected) => {
    expect(name(server, own)).toBe(expected);
  });

  it.each(["log", "_private", "__proto__", "a__b", "x".repeat(64)])("%s with one server stays", (own) => {
    expect(name("git", own, one)).toBe(own);
  });
});

describe("T28 hashed names", () => {
  it.each([
    ["a__b", "c", "a second __ in the server"],
    ["a_", "b", "the server ends with _"],
    ["a", "_b", "the tool begins with _"],
    ["a", "__proto__", "the tool begins with __"],
    ["a", "b--abcdefgh", "looks hashed"],
    ["a", `b--${"abcdefgh".repeat(4)}`, "looks long-hashed"],
    ["a", "b.c", "a dot"],
    ["a", "b/c:d", "a slash and a colon"],
    ["a", "日本語", "unicode"],
    ["a", "", "empty"],
    ["a", " ", "blank"],
    ["a", "b".repeat(62), "one too long"],
    ["a", "b".repeat(300), "far too long"],
    ["s".repeat(64), "b", "no room after the server"],
  ])("%s + %s is hashed: %s", (server, own) => {
    const exposed = name(server, own);
    expect(exposed).toMatch(HASHED);
    expect(exposed.length).toBeLessThanOrEqual(64);
    expect(exposed.startsWith(`${server}__`.slice(0, 54))).toBe(true);
  });

  it("keep the readable part and hash server NUL tool", () => {
    const exposed = name("web", "page.open");
    expect(exposed).toMatch(/^web__page_open--/);
    const bits = Array.from(exposed.slice(-8), (letter) =>
      "abcdefghijklmnopqrstuvwxyz234567".indexOf(letter).toString(2).padStart(5, "0"),
    ).join("");
    const digest = createHash("sha256").update("web\0page.open").digest();
    expect(Number.parseInt(bits, 2)).toBe(digest.readUIntBE(0, 5));
  });

  it("a name that imitates another tool's hashed name is hashed itself", () => {
    const victim = name("a", "b.c");
    const forged = victim.slice("a__".length);
    const names = exposeNames(
      [
        { server: "a", own: forged },
        { server: "a", own: "b.c" },
      ],
      several,
    );
    expect(names[1]).toBe(victim);
    expect(names[0]).not.toBe(victim);
  });

  it.each([
    ["検索", /^tool--[a-z2-7]{8}$/],
    ["web検索", /^web--/],
    ["größe_ändern", /^grosse_andern--/],
    ["ＷＥＢ.search", /^WEB_search--/],
    ["🜁", /^tool--/],
  ])("a non-ASCII name keeps its ASCII letters: %s", (own, pattern) => {
    expect(exposeNames([{ server: "a", own }], { several: false, maxLength: 64 })[0]).toMatch(pattern);
  });

  it("names with different lone surrogates differ", () => {
    const halves = ["\ud800", "\ud801", "\udc00", "\ufffd"].map((own) => ({ server: "a", own }));
    expect(new Set(exposeNames(halves, several)).size).toBe(halves.length);
  });
});

describe("T28 two colliding short hashes", () => {
  // Found by search: the same first 40 bits of SHA-256, and the same readable part.
  const long = "x".repeat(70);
  const pair: NameParts[] = [
    { server: "a", own: `${long}3670` },
    { server: "a", own: `${long}20730` },
  ];

  it("collide", () => {
    expect(name("a", pair[0]?.own ?? "")).toBe(name("a", pair[1]?.own ?? ""));
  });

  it("both get a long hash, in any order, and neither keeps the short name", () => {
    const short = name("a", pair[0]?.own ?? "");
    const names = exposeNames(pair, several);
    expect(names[0]).not.toBe(names[1]);
    expect(names).not.toContain(short);
    for (const exposed of names) {
      expect(exposed).toMatch(/--[a-z2-7]{32}$/);
      expect(exposed.length).toBe(64);
    }
    expect(exposeNames(pair.toReversed(), several)).toEqual(names.toReversed());
  });
});

describe("the possible owner of an unknown name", () => {
  it.each([
    ["git__log", "git", "log"],
    ["git__log", "gi", undefined],
    ["a__b__c", "a", "b__c"],
    ["a__b__c", "a__b", undefined],
    ["a___b", "a", undefined],
    ["git__", "git", undefined],
    ["git__x--abcdefgh", "git", undefined],
  ])("the plain tool of %s on %s is %s", (exposed, server, own) => {
    expect(findPlainTool(exposed, server, several)).toBe(own);
  });

  it.each(["b.c", "", "_b", "b".repeat(300), "日本", "b--abcdefgh"])(
    "a hashed name (%s) may belong to its server",
    (own) => {
      expect(mayBeHashedName(name("git", own), "git", several)).toBe(true);
      expect(mayBeHashedName(name("git", own), "github", several)).toBe(false);
      expect(mayBeHashedName(name("s".repeat(64), own), "s".repeat(64), several)).toBe(true);
    },
  );
});
