import { describe, expect, it } from "vitest";
import { accessText, parseAccess } from "./access.ts";

describe("AU-5 the access list of a group as text", () => {
  it.each<[access: string[] | null, text: string]>([
    [null, ""],
    [[], "none"],
    [["*"], "*"],
    [["user:ann@example.com", "team:eng"], "user:ann@example.com, team:eng"],
  ])("%j is %j, and back", (access, text) => {
    expect(accessText(access)).toBe(text);
    expect(parseAccess(text) ?? null).toEqual(access);
  });
});
