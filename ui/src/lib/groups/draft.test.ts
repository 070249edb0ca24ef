import { describe, expect, it } from "vitest";
import { countChanges, moveServer, setServer, setTools, type GroupDraft } from "./draft.ts";

const tools = new Map([
  ["git", ["log", "push", "status"]],
  ["memory", ["read", "write"]],
]);
const draft: GroupDraft = {
  description: "",
  servers: ["git"],
  rules: [],
  settings: {},
  access: "",
  exposure: "auto",
  approve: "never",
};

describe("editing a group", () => {
  it("a server that is taken in has all its tools, whatever the rules were", () => {
    expect(setServer(draft, tools, "memory", true)).toEqual({ ...draft, servers: ["git", "memory"] });
    expect(setServer({ ...draft, rules: ["git:log"] }, tools, "memory", true).rules).toEqual(["git:log", "memory:*"]);
  });

  it("a server that is taken out takes its rules along", () => {
    const both: GroupDraft = {
      description: "",
      servers: ["git", "memory"],
      rules: ["git:log", "memory:*"],
      settings: {},
      access: "",
      exposure: "auto",
      approve: "never",
    };
    expect(setServer(both, tools, "memory", false)).toEqual({ ...draft, rules: ["git:log"] });
    expect(setServer(both, tools, "git", false)).toEqual({
      description: "",
      servers: ["memory"],
      settings: {},
      rules: [],
      access: "",
      exposure: "auto",
      approve: "never",
    });
  });

  it("a tool of another server brings its server, with this tool alone", () => {
    const next = setTools(draft, tools, "memory", ["read"], true);
    expect(next.servers).toEqual(["git", "memory"]);
    expect(next.rules).toEqual(["!memory:write"]);
  });

  it("unticks and ticks", () => {
    const less = setTools(draft, tools, "git", ["push"], false);
    expect(less.rules).toEqual(["!git:push"]);
    expect(setTools(less, tools, "git", ["push"], true)).toEqual(draft);
  });

  it("moves a server", () => {
    const three: GroupDraft = { ...draft, servers: ["a", "b", "c"] };
    expect(moveServer(three, "c", 0).servers).toEqual(["c", "a", "b"]);
    expect(moveServer(three, "a", 9).servers).toEqual(["b", "c", "a"]);
  });

  it("counts changes", () => {
    expect(countChanges(draft, draft)).toBe(0);
    expect(
      countChanges(draft, {
        description: "x",
        servers: ["git", "memory"],
        rules: ["!git:push"],
        settings: {},
        access: "",
        exposure: "auto",
        approve: "never",
      }),
    ).toBe(3);
    expect(countChanges({ ...draft, servers: ["a", "b"] }, { ...draft, servers: ["b", "a"] })).toBe(1);
  });
});
