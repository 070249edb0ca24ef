// CF-7 as a table: messages and fields of rejected entries, and every limit at n - 1, n, n + 1.

import { describe, expect, it } from "vitest";
import { HubError } from "../../errors.ts";
import { normalizeGroup, normalizeServer } from "../parse/normalize.ts";

const ok = { command: "c" };
const many = (count: number) => Array.from({ length: count }, (_, index) => String(index));
const map = <T>(count: number, value: T) => Object.fromEntries(many(count).map((key) => [`K${key}`, value]));
const npm = (identifier: unknown) => ({ package: { type: "npm", identifier }, transport: "stdio" });
const pkg = (type: string, identifier: string) => ({ package: { type, identifier } });

function refusal(run: () => unknown): HubError {
  try {
    run();
  } catch (error) {
    if (error instanceof HubError) return error;
    throw error;
  }
  throw new Error("No HubError was thrown");
}

describe("CF-7 limits", () => {
  const limits: [what: string, limit: number, field: string | undefined, entry: (size: number) => unknown][] = [
    ["name", 64, "name", (n) => ({ ...ok, name: "n".repeat(n) })],
    ["id", 64, "id", (n) => ({ ...ok, id: "n".repeat(n) })],
    ["description", 1024, "description", (n) => ({ ...ok, description: "d".repeat(n) })],
    ["description of astral characters", 1024, "description", (n) => ({ ...ok, description: "😀".repeat(n) })],
    ["args", 50, "args", (n) => ({ ...ok, args: many(n) })],
    ["one arg", 512, "args.1", (n) => ({ ...ok, args: ["a", "é".repeat(n)] })],
    ["package args", 50, "package.args", (n) => ({ package: { type: "npm", identifier: "p", args: many(n) } })],
    [
      "args of package and entry",
      50,
      "args",
      (n) => ({ package: { type: "npm", identifier: "p", args: ["x"] }, args: many(n - 1) }),
    ],
    ["env variables", 50, "env", (n) => ({ ...ok, env: map(n, "v") })],
    ["env_vars", 50, "env_vars", (n) => ({ ...ok, env_vars: map(n, { value: "v" }) })],
    [
      "env_vars as a list",
      50,
      "env_vars",
      (n) => ({ ...ok, env_vars: many(n).map((key) => ({ name: `K${key}`, value: "v" })) }),
    ],
    ["env and env_vars", 50, "env_vars", (n) => ({ ...ok, env: { A: "a" }, env_vars: map(n - 1, "v") })],
    ["env value", 4096, "env.A", (n) => ({ ...ok, env: { A: "v".repeat(n) } })],
    ["env value in an object", 4096, "env.A.value", (n) => ({ ...ok, env: { A: { value: "😀".repeat(n) } } })],
    ["headers", 50, "headers", (n) => ({ url: "http://e.org", headers: map(n, "v") })],
    ["header value", 4096, "headers.A", (n) => ({ url: "http://e.org", headers: { A: "v".repeat(n) } })],
    ["url", 4096, "url", (n) => ({ url: `http://e.org/${"u".repeat(n - 13)}` })],
    ["timeout", 86_400_000, "timeout", (n) => ({ ...ok, timeout: n })],
  ];
  it.each(limits)("CF-7 %s: %i is the largest allowed", (_what, limit, field, entry) => {
    expect(() => normalizeServer("x", entry(limit - 1))).not.toThrow();
    expect(() => normalizeServer("x", entry(limit))).not.toThrow();
    expect(refusal(() => normalizeServer("x", entry(limit + 1)))).toMatchObject({ kind: "InvalidConfig", field });
  });

  it.each([
    ["tool name", 128, (n: number) => "t".repeat(n)],
    ["tool name with : and /", 128, (n: number) => `a b:c/${"t".repeat(n - 6)}`],
    ["tool of a server", 128, (n: number) => `git:${"t".repeat(n)}`],
  ])("CF-7 %s: %i is the longest allowed", (_what, limit, tool) => {
    const group = (n: number) => normalizeGroup("g", { tools: [tool(n)] });
    expect(() => group(limit - 1)).not.toThrow();
    expect(() => group(limit)).not.toThrow();
    expect(refusal(() => group(limit + 1))).toMatchObject({
      kind: "InvalidConfig",
      field: "tools.0",
    });
  });
});

describe("CF-7 rejected entries", () => {
  const refusals: [entry: unknown, field: string | undefined, message: string | RegExp][] = [
    [null, undefined, "A server must be an object"],
    [[], undefined, "A server must be an object"],
    [{ ...ok, name: "" }, "name", "Name is required"],
    [{ ...ok, name: " \t\n" }, "name", "Name is required"],
    [{ ...ok, name: 7 }, "name", "name must be text"],
    [{ ...ok, name: "a b" }, "name", "Name may only contain letters, digits, _ and -"],
    [{ ...ok, name: "../x" }, "name", /only contain/],
    [{ ...ok, name: "x\0.json" }, "name", /only contain/],
    [{ ...ok, name: "é" }, "name", /only contain/],
    [{ ...ok, name: "__proto__" }, "name", /reserved/],
    [{ ...ok, name: "constructor" }, "name", /reserved/],
    [{ ...ok, name: "prototype" }, "name", /reserved/],
    [{}, "transport", "Transport required"],
    [{ transport: "stdio" }, "transport", "Transport required"],
    [{ args: ["a"] }, "transport", "Transport required"],
    [{ type: "sse" }, "url", "Transport required"],
    [{ transport: 5 }, "transport", /transport must be "stdio"/],
    [{ transport: "pigeon" }, "transport", /must be stdio, http, sse or websocket/],
    [{ type: "pigeon", url: "http://e.org" }, "type", /must be stdio, http, sse or websocket/],
    [npm(""), "package.identifier", "Package identifier required"],
    [npm("  "), "package.identifier", "Package identifier required"],
    [npm(undefined), "package.identifier", "Package identifier required"],
    [npm(null), "package.identifier", "Package identifier required"],
    [npm(3), "package.identifier", "package.identifier must be text"],
    [{ package: { type: "cargo", identifier: "x" } }, "package.type", /must be npm, pypi/],
    [{ package: { identifier: "x" } }, "package.type", /must be npm, pypi/],
    [{ ...npm("p"), transport: { type: "http" } }, "transport", /started over stdio/],
    [{ ...pkg("npm", "p"), url: "http://e.org" }, "transport", /started over stdio/],
    [{ ...npm("p"), url: "http://e.org" }, "url", /has a command, not a url/],
    [{ ...ok, url: "http://e.org" }, "url", /either a command or a url/],
    [{ type: "stdio", url: "http://e.org" }, "url", /has a command, not a url/],
    [{ url: "ftp://e.org" }, "url", /must begin with http/],
    [{ url: "javascript:alert(1)" }, "url", /must begin with http/],
    [{ url: "" }, "url", /must begin with http/],
    [{ url: "nowhere" }, "url", /must begin with http/],
    [{ url: "http://e.org", type: "ws" }, "url", /ws:\/\/ or wss:\/\//],
    [{ command: "http", args: ["nowhere"] }, "args.0", /must begin with http/],
    [{ command: "http" }, "args.0", /needs a url/],
    [{ command: "" }, "command", "Command is empty"],
    [{ command: 5 }, "command", "command must be text"],
    [{ command: "npx; touch M" }, "command", /without a shell/],
    [{ command: "$(touch M)" }, "command", /without a shell/],
    [{ command: "`touch M`" }, "command", /without a shell/],
    [{ command: "npx -y thing" }, "command", /put arguments in args/],
    [{ command: "a\nb" }, "command", /control characters/],
    [{ command: "a\0b" }, "command", /NUL/],
    [{ command: "-c" }, "command", /must not begin with -/],
    [{ ...ok, description: "a\nb" }, "description", /control characters/],
    [{ ...ok, description: "a\u009Fb" }, "description", /control characters/],
    [{ ...ok, args: "a" }, "args", "args must be a list"],
    [{ ...ok, args: ["a", 5] }, "args.1", "args.1 must be text"],
    [{ ...ok, args: ["a", "b", "c", "\0"] }, "args.3", /NUL/],
    [{ ...ok, args: ["\ud800"] }, "args.0", /valid Unicode/],
    [{ ...ok, env: [] }, "env", "env must be an object"],
    [{ ...ok, env: { "A=B": "v" } }, "env.A=B", /may only contain letters, digits and _/],
    [{ ...ok, env: { "": "v" } }, "env.", /may only contain letters, digits and _/],
    [{ ...ok, env: { A: null } }, "env.A", /must be text, or an object/],
    [{ ...ok, env: { A: "\0" } }, "env.A", /NUL/],
    [{ ...ok, env: { A: { secretRef: "" } } }, "env.A.secretRef", "Secret name is required"],
    [{ ...ok, env_vars: { A: { secret_ref: 5 } } }, "env_vars.A.secret_ref", /must be text/],
    [{ ...ok, env_vars: [{ value: "v" }] }, "env_vars.0.name", /must be text/],
    [{ ...ok, env_vars: [{ name: "A" }, { name: "A" }] }, "env_vars.A", /defined twice/],
    [{ ...ok, env: { A: "1" }, envVars: { A: "2" } }, "envVars.A", /defined twice/],
    [{ url: "http://e.org", headers: { "a b": "v" } }, "headers.a b", /HTTP does not allow/],
    [{ url: "http://e.org", headers: { A: "x\r\nB: y" } }, "headers.A", /control characters/],
    [{ ...ok, headers: { constructor: "v" } }, "headers.constructor", /is a reserved name/],
    [{ ...ok, env: JSON.parse('{"__proto__": "v"}') as unknown }, "env.__proto__", /is a reserved name/],
    [{ ...ok, config: { a: [{ prototype: 1 }] } }, "config.a.0.prototype", /is a reserved name/],
    [{ ...ok, config: { f: () => 1 } }, "config.f", "config.f is not JSON"],
    [{ ...ok, config: { f: Number.NaN } }, "config.f", "config.f is not JSON"],
    [{ ...ok, enabled: "yes" }, "enabled", "enabled must be true or false"],
    [{ ...ok, hardened: true }, "hardened", "Only docker servers can be hardened"],
    [{ ...ok, timeout: 0 }, "timeout", /at least 1 ms/],
    [{ ...ok, timeouts: { start_ms: 1.5 } }, "timeouts.start_ms", /whole number/],
    [{ ...ok, groups: ["a b"] }, "groups.0", /may only contain letters/],
    [{ ...ok, source: { type: "official", name: "n" } }, "source", /needs a name and a version/],
    [{ ...ok, source: { type: "other" } }, "source.type", /official, smithery, import or manual/],
    [{ ...ok, source: { type: "official", name: "n", version: "latest" } }, "source.version", /exact version/],
    [{ ...ok, source: { registry: "company", name: "n", version: "^1.2.0" } }, "source.version", /exact version/],
    [{ ...ok, source: { registry: "company" } }, "source.name", /needs a name/],
    [{ ...ok, source: { registry: " ", name: "n" } }, "source.registry", /no registry/],
  ];
  it.each(refusals)("CF-7 %j", (entry, field, message) => {
    const error = refusal(() => normalizeServer("x", entry));
    expect(error.code).toBe("VALIDATION_ERROR");
    expect(error.field).toBe(field);
    expect(error.message).toEqual(typeof message === "string" ? message : expect.stringMatching(message));
  });

  it("CF-7 a name is required if there is no key", () => {
    expect(refusal(() => normalizeServer(undefined, ok))).toMatchObject({ message: "Name is required", field: "name" });
  });

  it("SE-5 rejects entries that are too deep or cyclic", () => {
    const loop: Record<string, unknown> = {};
    loop["self"] = loop;
    const depth = (levels: number): unknown => (levels === 0 ? 1 : [depth(levels - 1)]);
    expect(() => normalizeServer("x", { ...ok, config: depth(63) })).not.toThrow();
    expect(refusal(() => normalizeServer("x", { ...ok, config: depth(64) })).message).toMatch(/nested deeper than 64/);
    expect(refusal(() => normalizeServer("x", { ...ok, config: loop })).message).toMatch(/nested deeper than 64/);
  });

  it("T19 no key reaches a prototype", () => {
    const entry: unknown = JSON.parse('{"command": "c", "__proto__": {"polluted": true}}');
    expect(refusal(() => normalizeServer("x", entry)).message).toMatch(/is a reserved name/);
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });
});

describe("T08 package identifiers", () => {
  it.each([
    ["npm", "p"],
    ["npm", "@modelcontextprotocol/server-memory"],
    ["npm", "@s/p@1.2.3-beta.1+build"],
    ["npm", "p@latest"],
    ["npm", "p@^1.0"],
    ["pypi", "mcp-server-sqlite"],
    ["pypi", "p[a,b]==1.2.*"],
    ["pypi", "p>=1,<2"],
    ["pypi", "p@1.2.3"],
    ["docker", "mcp-server:latest"],
    ["docker", "ghcr.io/o/i:v1"],
    ["docker", "localhost:5000/a/b/c@sha256:" + "0".repeat(64)],
    ["binary", "C:\\Program Files (x86)\\s.exe"],
  ])("%s %s is accepted", (type, identifier) => {
    expect(() => normalizeServer("x", pkg(type, identifier))).not.toThrow();
  });

  it.each([
    ["npm", "--call=touch M"],
    ["npm", "-c"],
    ["npm", "--package=x"],
    ["npm", "p; touch M"],
    ["npm", "../p"],
    ["npm", "/etc/p"],
    ["npm", "git+ssh://e.org/p"],
    ["npm", "p@"],
    ["npm", "p\nq"],
    ["pypi", "-p"],
    ["pypi", "--from=x"],
    ["pypi", "p==1; touch M"],
    ["docker", "--privileged"],
    ["docker", "-v"],
    ["docker", "UPPER"],
    ["docker", "a b"],
    ["binary", "-x"],
    ["binary", "a|b"],
  ])("%s %j is rejected", (type, identifier) => {
    expect(refusal(() => normalizeServer("x", pkg(type, identifier)))).toMatchObject({
      code: "VALIDATION_ERROR",
      field: "package.identifier",
    });
  });
});
