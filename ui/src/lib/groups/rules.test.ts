import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Rules, shortestRules, toolKey, type ServerTools } from "./rules.ts";

const git = ["log", "push", "status", "delete_repo", "delete_branch"];
const tools: ServerTools = new Map([
  ["git", git],
  ["memory", ["read_graph", "search"]],
]);
const all = new Set([...tools].flatMap(([server, names]) => names.map((tool) => toolKey(server, tool))));
const without = (...keys: string[]) => new Set([...all].filter((key) => !keys.includes(key)));

describe("the shortest rules for ticked tools", () => {
  it.each<[string, string[], Set<string>, string[]]>([
    ["everything on needs no rule", ["git:*", "memory:*"], all, []],
    ["few off are excluded", [], without("git:push"), ["!git:push"]],
    ["few on are admitted", [], new Set(["git:log"]), ["git:log"]],
    [
      "a few of one server, all of another",
      [],
      new Set(["git:log", "memory:search", "memory:read_graph"]),
      ["git:log", "memory:*"],
    ],
    ["nothing on", [], new Set(), ["!git:*", "!memory:*"]],
    [
      "a typed pattern stays",
      ["!*:delete_*"],
      without("git:delete_repo", "git:delete_branch", "git:push"),
      ["!*:delete_*", "!git:push"],
    ],
    ["a pattern that keeps out a wanted tool goes", ["!*:delete_*"], without("git:delete_repo"), ["!git:delete_repo"]],
    ["a rule of a server that is not known stays", ["gone:x", "git:log"], new Set(["git:log"]), ["gone:x", "git:log"]],
    [
      "a rule that admits stays, and what it lets in too much is excluded",
      ["*:read_*", "git:*"],
      new Set(["git:log"]),
      ["*:read_*", "git:log", "!memory:read_graph"],
    ],
  ])("%s", (_, before, wanted, expected) => {
    expect(shortestRules(before, tools, wanted)).toEqual(expected);
  });

  it("a server whose tools are not known keeps its tools when others become a list", () => {
    const known = new Map([...tools, ["down", []]]);
    expect(shortestRules([], known, new Set(["git:log"]))).toEqual(["down:*", "git:log"]);
    expect(shortestRules(["git:log"], known, new Set(["git:push"]))).toEqual(["git:push"]);
  });

  const name = fc.stringMatching(/^[a-c_:]{1,4}$/);
  const server = fc.constantFrom("s", "t", "s2");
  const universe = fc.uniqueArray(fc.tuple(server, fc.uniqueArray(name, { minLength: 1, maxLength: 6 })), {
    selector: ([key]) => key,
    minLength: 1,
  });
  const pattern = fc
    .tuple(
      fc.constantFrom("", "!"),
      fc.constantFrom("", "s:", "t:", "*:", "s*:", "gone:"),
      fc.stringMatching(/^[a-c_*]{1,3}$/),
    )
    .map((parts) => parts.join(""));

  it("admits exactly the wanted tools, whatever the rules were", () => {
    fc.assert(
      fc.property(
        universe,
        fc.array(pattern, { maxLength: 5 }),
        fc.infiniteStream(fc.boolean()),
        (entries, before, coin) => {
          const given: ServerTools = new Map(entries);
          const wanted = new Set([...new Rules([]).admitted(given)].filter(() => coin.next().value));
          const rules = shortestRules(before, given, wanted);
          expect(new Rules(rules).admitted(given)).toEqual(wanted);
          // Written twice, the rules do not change.
          expect(shortestRules(rules, given, wanted).toSorted()).toEqual(rules.toSorted());
          // From scratch, never longer than naming each tool that is on, or each that is off.
          const off = new Rules([]).admitted(given).size - wanted.size;
          expect(shortestRules([], given, wanted).length).toBeLessThanOrEqual(
            wanted.size > 0 ? Math.min(wanted.size, off) : off,
          );
        },
      ),
      { numRuns: 500 },
    );
  });

  it("keeps the set when rules are rewritten for what they already admit", () => {
    fc.assert(
      fc.property(universe, fc.array(pattern, { maxLength: 6 }), (entries, before) => {
        const given: ServerTools = new Map(entries);
        const admitted = new Rules(before).admitted(given);
        expect(new Rules(shortestRules(before, given, admitted)).admitted(given)).toEqual(admitted);
      }),
      { numRuns: 500 },
    );
  });
});

describe("which rule decides", () => {
  it("an exclusion before an admission", () => {
    const rules = new Rules(["git:*", "!*:delete_*"]);
    expect(rules.decidingRule("git", "log")).toBe("git:*");
    expect(rules.decidingRule("git", "delete_repo")).toBe("!*:delete_*");
    expect(rules.decidingRule("memory", "search")).toBeUndefined();
    expect(rules.matchCounts(tools)).toEqual([5, 2]);
  });
});
