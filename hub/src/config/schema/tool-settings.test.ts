import { describe, expect, it } from "vitest";
import { HubError } from "../../errors.ts";
import { META_TOOLS } from "../../search/meta-tools.ts";
import { normalizeGroup, toGroupEntry } from "../parse/normalize.ts";

function failureOf(tools: unknown): Pick<HubError, "message" | "field"> {
  try {
    normalizeGroup("work", { tools });
  } catch (error) {
    if (error instanceof HubError) return error;
    throw error;
  }
  throw new Error("valid");
}

describe("tools of a group with settings", () => {
  it("RG-4 select as the list of their patterns does", () => {
    const tools = { "git:log": { as: "history" }, "memory:*": {}, "!memory:rm": {} };
    const group = normalizeGroup("work", { tools });
    expect(group.tools).toEqual(normalizeGroup("work", { tools: Object.keys(tools) }).tools);
    expect(group.toolSettings).toEqual({ "git:log": { as: "history" } });
    expect(toGroupEntry(group).tools).toEqual(tools);
  });

  it("RG-4 without any setting are written as a list", () => {
    expect(toGroupEntry(normalizeGroup("work", { tools: { "git:*": {} } })).tools).toEqual(["git:*"]);
  });

  it.each([
    ["a typo", { "git:log": { ass: "x" } }, "tools.git:log.ass", 'Unknown field "tools.git:log.ass"'],
    ["a name for a pattern", { "git:*": { as: "x" } }, "tools.git:*.as", "may match several"],
    ["a name without a server", { log: { as: "x" } }, "tools.log.as", 'Write it as "server:tool"'],
    ["a description for a pattern", { "git:*": { description: "x" } }, "tools.git:*.description", "may match several"],
    ["settings of what is excluded", { "!git:log": { as: "x" } }, "tools.!git:log.as", "excludes tools"],
    ["a name twice", { "a:b": { as: "x" }, "c:d": { as: "x" } }, "tools.c:d.as", "have the same name x"],
    ["a name with other characters", { "a:b": { as: "x y" } }, "tools.a:b.as", "letters, digits, _ or -"],
    ["a name like one with a hash", { "a:b": { as: "x--abcdefgh" } }, "tools.a:b.as", "must not contain --"],
    ["text as arguments", { "a:b": { arguments: { c: "d" } } }, "tools.a:b.arguments.c", "must be an object"],
    ["neither list nor object", "git:*", "tools", "tools must be"],
  ])("RG-4 refuse %s", (_, tools, field, message) => {
    expect(failureOf(tools)).toMatchObject({ field, message: expect.stringContaining(message) as string });
  });

  it.each(META_TOOLS)("RG-4 refuse the name %s, which is taken in a searched group", (name) => {
    expect(failureOf({ "a:b": { as: name } }).message).toContain("as must not be");
  });
});
