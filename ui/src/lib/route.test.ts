import { describe, expect, it } from "vitest";
import { formatQuery, matchPath, parseQuery, pathTo, withQuery } from "./route.ts";

describe("paths", () => {
  it.each([
    ["/", "/", {}],
    ["/servers", "/servers/", {}],
    ["/servers/:name", "/servers/github", { name: "github" }],
    ["/servers/:name", "/servers/a%2Fb.c", { name: "a/b.c" }],
    ["/try/:server/:tool", "/try/x/y", { server: "x", tool: "y" }],
    ["/servers/:name", "/servers/100%", { name: "100%" }],
  ])("%s fits %s", (pattern, path, params) => {
    expect(matchPath(pattern, path)).toEqual(params);
  });

  it.each([
    ["/servers", "/server"],
    ["/servers/:name", "/servers"],
    ["/servers", "/servers/github"],
  ])("%s does not fit %s", (pattern, path) => {
    expect(matchPath(pattern, path)).toBeUndefined();
  });

  it("encodes what is filled in, so that it comes back unchanged", () => {
    const name = "ä/ %?#";
    expect(matchPath("/servers/:name", pathTo`/servers/${name}`)).toEqual({ name });
  });
});

describe("queries", () => {
  it("keeps what is given and leaves out what is empty", () => {
    expect(formatQuery({ q: "a b", state: "", kind: undefined, sort: "-name" })).toBe("q=a+b&sort=-name");
    expect(withQuery("/calls", { server: undefined })).toBe("/calls");
    expect(parseQuery("?q=a+b&sort=-name")).toEqual({ q: "a b", sort: "-name" });
  });
});
