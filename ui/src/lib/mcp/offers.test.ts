import { describe, expect, it } from "vitest";
import { fillTemplate, templateNames } from "./offers.ts";

describe("templates of resources", () => {
  it.each([
    ["demo://text/{id}", ["id"]],
    ["a://{+path}{?q,page*}", ["path", "q", "page"]],
    ["a://{x:3}/{x}", ["x"]],
    ["a://none", []],
    ["a://{open", ["open"]],
  ])("%s has the names %j", (template, names) => {
    expect(templateNames(template)).toEqual(names);
  });

  it.each([
    ["demo://text/{id}", "demo://text/a%2Fb"],
    ["file://{+path}", "file:///x%20y"],
    ["a://s{?q,page}", "a://s?q=1%202"],
    ["a://s{?page}", "a://s"],
    ["a://{/id}", "a:///a%2Fb"],
  ])("%s is filled as %s", (template, expected) => {
    expect(fillTemplate(template, { id: "a/b", path: "/x y", q: "1 2" })).toBe(expected);
  });
});
