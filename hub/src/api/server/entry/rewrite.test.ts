import { describe, expect, it } from "vitest";
import { normalizeServer } from "../../../config/parse/normalize.ts";
import type { JsonObject } from "../../../config/parse/plain-object.ts";
import { toShown } from "./entry.ts";
import { toJsonObject } from "./object.ts";
import { restoreMasked } from "./restore.ts";
import { othersOf, rewriteEntry } from "./rewrite.ts";

/** The written entry of a server that is read, changed and sent back. */
function written(stored: JsonObject, change: JsonObject = {}): JsonObject {
  const before = normalizeServer("it", stored);
  const given = restoreMasked(toJsonObject({ ...othersOf(stored), ...toShown(before), ...change }), before);
  const { name, ...entry } = rewriteEntry({ stored, before, given, after: normalizeServer("it", given) });
  return name === "it" ? entry : { name: name ?? "", ...entry };
}

describe("CF-10 unchanged parts of an entry keep their spelling", () => {
  it.each<[string, JsonObject]>([
    ["command and args", { command: "npx", args: ["-y", "@scope/server"], env: { API_KEY: "k", PORT: 3000 } }],
    ["without anything", { command: "server" }],
    [
      "package and transport",
      {
        package: { type: "npm", identifier: "@scope/server" },
        transport: "stdio",
        env_vars: { API_KEY: { value: "k" } },
      },
    ],
    ["a url", { url: "https://example.com/mcp", headers: { Authorization: "Bearer x" } }],
    ["http as a command", { command: "http", args: ["https://example.com/mcp"] }],
    [
      "another client's",
      { command: "server", disabled: true, timeout: 5, autoApprove: ["x"], icon: { token: "theirs" } },
    ],
    [
      "a long one",
      {
        command: "server",
        enabled: false,
        timeouts: { startMs: 1, requestMs: 2 },
        groups: ["a"],
        config: { token: "t" },
        source: { type: "smithery", qualifiedName: "q" },
      },
    ],
  ])("%s", (_, stored) => expect(written(stored)).toEqual(stored));
});

describe("changed parts are written as given", () => {
  it.each<[JsonObject, JsonObject, JsonObject]>([
    [{ command: "a", disabled: true }, { enabled: true }, { command: "a", enabled: true }],
    [
      { package: { type: "npm", identifier: "x" }, description: "d" },
      { args: ["-y", "x", "--more"] },
      { command: "npx", args: ["-y", "x", "--more"], description: "d" },
    ],
    [{ command: "a", env_vars: { A: { value: "1" } } }, { env: { A: "2" } }, { command: "a", env: { A: "2" } }],
    [{ url: "https://a/" }, { url: "https://b/" }, { type: "http", url: "https://b/" }],
    [{ command: "a", timeout: 5 }, { timeouts: { request_ms: 6 } }, { command: "a", timeouts: { request_ms: 6 } }],
    [{ command: "a", other: 1 }, { other: 2 }, { command: "a", other: 2 }],
  ])("%j with %j is %j", (stored, change, expected) => expect(written(stored, change)).toEqual(expected));

  it("a renamed server keeps its id", () => {
    expect(written({ command: "a" }, { name: "new" })).toEqual({ name: "new", id: "it", command: "a" });
  });
});
