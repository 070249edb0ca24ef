import { describe, expect, it } from "vitest";
import { leastCpuMs } from "../../../test/support/cpu-time.ts";
import { matchesGlob, parseGlob } from "./glob.ts";
import { ToolFilter } from "./tool-filter.ts";

describe("globs", () => {
  it.each([
    ["", "", true],
    ["", "a", false],
    ["a", "a", true],
    ["a", "ab", false],
    ["*", "", true],
    ["*", "anything:at/all", true],
    ["a*", "a", true],
    ["a*", "ba", false],
    ["*a", "bba", true],
    ["a*a", "a", false],
    ["a*a", "aa", true],
    ["a*b*c", "a1b2b3c", true],
    ["a*b*c", "acb", false],
    ["a**c", "abc", true],
    ["*ab*ab*", "abab", true],
    ["*ab*ab*", "aba", false],
    ["a.c", "abc", false],
    ["(x+x+)+y", "xxxy", false],
  ])("%s on %s: %s", (pattern, text, expected) => {
    expect(matchesGlob(parseGlob(pattern), text)).toBe(expected);
  });

  it("many stars match a long text in linear time", () => {
    const match = () => expect(matchesGlob(parseGlob("*a".repeat(200) + "*b"), "a".repeat(100_000))).toBe(false);
    expect(leastCpuMs(match, 25)).toBeLessThan(25);
  });
});

describe("GR-1 the tools entries of a group", () => {
  it.each([
    [[], "git", "log", true],
    [["log"], "git", "log", true],
    [["log"], "git", "Log", false],
    [["log"], "git", "log2", false],
    [["git:log"], "git", "log", true],
    [["git:log"], "fs", "log", false],
    [["git:*"], "git", "log", true],
    [["git:*"], "github", "log", false],
    [["git*:log"], "github", "log", true],
    [["*:read_*"], "fs", "read_file", true],
    [["read_*", "git:log"], "fs", "write_file", false],
    [["__proto__"], "git", "constructor", false],
    [["git:ns:tool"], "git", "ns:tool", true],
    [["*:ns:tool"], "git", "ns:tool", true],
    [["git:push"], "evil", "git:push", false],
    [["!push"], "git", "push", false],
    [["!push"], "git", "log", true],
    [["!git:*"], "fs", "push", true],
    [["git:*", "!git:push*"], "git", "log", true],
    [["git:*", "!git:push*"], "git", "push_all", false],
    [["!git:push*", "git:*"], "git", "push_all", false],
    [["git:*", "!git:push*"], "fs", "log", false],
    [["!*"], "git", "log", false],
  ])("%j on %s:%s: %s", (entries, server, tool, expected) => {
    expect(new ToolFilter(entries).admits(server, tool)).toBe(expected);
  });

  it("reports the entries that match nothing", () => {
    const filter = new ToolFilter(["log", "lgo", "git:*", "!git:push", "!log"]);
    expect(filter.unused([{ server: "git", tool: "log" }])).toEqual(["lgo", "!git:push"]);
  });
});
