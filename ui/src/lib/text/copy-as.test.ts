import { describe, expect, it } from "vitest";
import { toCli, toCurl, toJsonRpc, toLink, toTypeScript, type CallToCopy } from "./copy-as.ts";
import { NumberText } from "./json.ts";

const call: CallToCopy = {
  server: "github",
  tool: "search_issues",
  arguments: { q: "is:open it's", limit: 5 },
  origin: "http://127.0.0.1:7430",
  uiBase: "http://127.0.0.1:7430/ui/",
};

describe("copy a call as", () => {
  it("a command", () => {
    expect(toCli(call)).toBe(String.raw`plugboard call github.search_issues 'q=is:open it'\''s' limit=5`);
    expect(toCli({ ...call, arguments: {} })).toBe("plugboard call github.search_issues");
    expect(toCli({ ...call, arguments: { a: [1] } })).toBe(`plugboard call github.search_issues '{"a":[1]}'`);
    expect(toCli({ ...call, arguments: { n: new NumberText("9007199254740993") } })).toContain("n=9007199254740993");
    // A text that reads as a number must stay a text.
    expect(toCli({ ...call, arguments: { a: "5" } })).toContain(`'{"a":"5"}'`);
    expect(toCli({ ...call, tool: "a.b", arguments: {} })).toBe("plugboard call github:a.b");
  });

  it("a request of the REST API", () => {
    const text = toCurl({ ...call, tool: "a/b" });
    expect(text).toContain("http://127.0.0.1:7430/api/v1/servers/github/tools/a%2Fb/call");
    expect(text).toContain("$PLUGBOARD_TOKEN");
  });

  it("a JSON-RPC message and a program", () => {
    expect(JSON.parse(toJsonRpc(call))).toMatchObject({ method: "tools/call", params: { name: "search_issues" } });
    expect(toTypeScript(call)).toContain('server_name: "github"');
  });

  it("a link, without secrets", () => {
    expect(toLink(call, false)).toBe("http://127.0.0.1:7430/ui/try/github/search_issues");
    expect(toLink(call, true)).toContain("?args=%7B");
  });
});
