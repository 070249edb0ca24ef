import { describe, expect, it } from "vitest";
import { copyForms, hasHidden, shell } from "./copy.ts";

describe("a recorded call", () => {
  it("becomes a command, a request and a message", () => {
    const call = { server_name: "a/b", tool_name: "say", params: { text: "it's" } };
    const [cli, curl, rpc] = copyForms(call, "http://127.0.0.1:7430");
    expect(cli?.text).toBe(String.raw`plugboard call a/b.say '{"text":"it'\''s"}'`);
    expect(curl?.text).toContain("http://127.0.0.1:7430/api/v1/servers/a%2Fb/tools/say/call");
    expect(JSON.parse(rpc?.text ?? "")).toMatchObject({ params: { name: "say", arguments: { text: "it's" } } });
  });

  it("is recognized as incomplete where something was hidden", () => {
    expect(hasHidden({ a: [{ token: "***" }] })).toBe(true);
    expect(hasHidden({ "***": 1 })).toBe(true);
    expect(hasHidden({ a: "two ** stars", b: null, c: 3 })).toBe(false);
  });

  it.each([
    ["plain-word", "plain-word"],
    ["two words", "'two words'"],
    ["$(x)", "'$(x)'"],
    ["", "''"],
  ])("%j is one word of a shell", (word, quoted) => {
    expect(shell(word)).toBe(quoted);
  });
});
