// Both spellings give the same normal form.

import { describe, expect, it } from "vitest";
import { normalizeServer, parseGroups } from "./normalize.ts";
import type { StdioTransport } from "../schema/types.ts";

const stdio = (command: string, args: string[], more: Partial<StdioTransport> = {}): StdioTransport => ({
  type: "stdio",
  launcher: "binary",
  command,
  args,
  hardened: false,
  ...more,
});
const remote = (type: "http" | "sse" | "websocket", url: string, headers = {}) => ({ type, url, headers });

describe("a server's transport", () => {
  it.each([
    ["npx", { command: "npx", args: ["-y", "p"] }, stdio("npx", ["-y", "p"], { launcher: "npx" })],
    ["uvx", { command: "/usr/bin/uvx", args: ["p"] }, stdio("/usr/bin/uvx", ["p"], { launcher: "uvx" })],
    ["docker", { command: "docker", args: ["run"] }, stdio("docker", ["run"], { launcher: "docker" })],
    ["podman", { command: "podman" }, stdio("podman", [], { launcher: "docker" })],
    ["npx.cmd", { command: "C:\\node js\\npx.CMD" }, stdio("C:\\node js\\npx.CMD", [], { launcher: "npx" })],
    ["a binary", { command: "/opt/my server", cwd: "/srv" }, stdio("/opt/my server", [], { cwd: "/srv" })],
    ["type stdio", { type: "stdio", command: "x" }, stdio("x", [])],
    ["hardened", { command: "docker", hardened: true }, stdio("docker", [], { launcher: "docker", hardened: true })],
    ["url", { url: "https://e.org/mcp" }, remote("http", "https://e.org/mcp")],
    ["headers", { url: "http://e.org", headers: { A: "b" } }, remote("http", "http://e.org", { A: "b" })],
    ["type http", { type: "http", url: "http://e.org" }, remote("http", "http://e.org")],
    ["streamable-http", { type: "streamable-http", url: "http://e.org" }, remote("http", "http://e.org")],
    ["streamableHttp", { type: "streamableHttp", url: "http://e.org" }, remote("http", "http://e.org")],
    ["sse", { type: "sse", url: "http://e.org" }, remote("sse", "http://e.org")],
    ["ws", { type: "ws", url: "ws://e.org" }, remote("websocket", "ws://e.org")],
    ["websocket", { type: "websocket", url: "wss://e.org" }, remote("websocket", "wss://e.org")],
    ["scheme ws", { url: "ws://e.org" }, remote("websocket", "ws://e.org")],
    ["scheme wss", { url: "wss://${HOST}/x" }, remote("websocket", "wss://${HOST}/x")],
    ["a variable", { url: "${BASE}/mcp", type: "sse" }, remote("sse", "${BASE}/mcp")],
    ["command http", { command: "http", args: ["http://e.org"] }, remote("http", "http://e.org")],
    ["command http, url", { command: "http", url: "http://e.org", args: [] }, remote("http", "http://e.org")],
  ])("CF-1 %s", (_what, entry, expected) => {
    expect(normalizeServer("x", entry).transport).toEqual(expected);
  });

  it.each([
    ["npm", { type: "npm", identifier: "@s/p@1" }, stdio("npx", ["-y", "@s/p@1", "a"], { launcher: "npx" })],
    ["package_type", { package_type: "npm", identifier: "p" }, stdio("npx", ["-y", "p", "a"], { launcher: "npx" })],
    ["packageType", { packageType: "Npm", identifier: "p" }, stdio("npx", ["-y", "p", "a"], { launcher: "npx" })],
    ["pypi", { type: "pypi", identifier: "p[x]==1" }, stdio("uvx", ["p[x]==1", "a"], { launcher: "uvx" })],
    [
      "docker",
      { type: "docker", identifier: "o/i:1" },
      stdio("docker", ["run", "--rm", "-i", "o/i:1", "a"], { launcher: "docker" }),
    ],
    [
      "podman",
      { type: "docker", identifier: "i", runtime_hint: "podman" },
      stdio("podman", ["run", "--rm", "-i", "i", "a"], { launcher: "docker" }),
    ],
    ["binary", { type: "binary", identifier: "/opt/s" }, stdio("/opt/s", ["a"])],
    ["own args", { type: "binary", identifier: "/s", args: ["0"] }, stdio("/s", ["0", "a"])],
    ["hint alone", { runtimeHint: "uvx", identifier: "p" }, stdio("uvx", ["p", "a"], { launcher: "uvx" })],
  ])("CF-2 package %s", (_what, pkg, expected) => {
    expect(normalizeServer("x", { package: pkg, transport: "stdio", args: ["a"] }).transport).toEqual(expected);
    expect(normalizeServer("x", { package: pkg, transport: { type: "stdio" }, args: ["a"] }).transport).toEqual(
      expected,
    );
    expect(normalizeServer("x", { package: pkg, args: ["a"] }).transport).toEqual(expected);
  });

  it.each([
    ["type and url", { type: "http", url: "http://e.org", headers: { A: "b" } }, { A: "b" }],
    ["Http", { Http: { url: "http://e.org" } }, {}],
  ])("CF-2 package http connects only: %s", (_what, transport, headers) => {
    const entry = { package: { type: "http", identifier: "my-server" }, transport };
    expect(normalizeServer("x", entry).transport).toEqual(remote("http", "http://e.org", headers));
    expect(normalizeServer("x", { transport }).transport).toEqual(remote("http", "http://e.org", headers));
  });

  it("CF-2 package http uses its identifier as the url if there is no other", () => {
    const entry = { package: { type: "http", identifier: "https://e.org/mcp" } };
    expect(normalizeServer("x", entry).transport).toEqual(remote("http", "https://e.org/mcp"));
  });
});

describe("the rest of a server", () => {
  it("CF-1 has defaults for missing fields", () => {
    expect(normalizeServer("x", { command: "c" })).toEqual({
      id: "x",
      name: "x",
      enabled: true,
      source: { type: "manual" },
      transport: stdio("c", []),
      env: {},
      timeouts: {},
      groups: [],
    });
  });

  it("CF-1 keeps all given fields and ignores keys of other clients", () => {
    const entry = {
      id: "0190-a",
      name: " shown ",
      enabled: true,
      description: "d",
      command: "c",
      config: { deep: [1, null] },
      timeouts: { start_ms: 5, requestMs: 7 },
      groups: ["a", "b", "a"],
      autoApprove: ["x"],
      alwaysAllow: 3,
      gallery: true,
    };
    expect(normalizeServer("key", entry)).toMatchObject({
      id: "0190-a",
      name: "shown",
      description: "d",
      config: { deep: [1, null] },
      timeouts: { startMs: 5, requestMs: 7 },
      groups: ["a", "b"],
    });
  });

  it.each([
    [{}, true],
    [{ enabled: true }, true],
    [{ enabled: false }, false],
    [{ disabled: true }, false],
    [{ disabled: false }, true],
    [{ enabled: true, disabled: true }, false],
  ])("CF-4 %j means enabled: %s", (switches, enabled) => {
    expect(normalizeServer("x", { command: "c", ...switches }).enabled).toBe(enabled);
  });

  it("a single timeout is the request timeout", () => {
    expect(normalizeServer("x", { command: "c", timeout: 9 }).timeouts).toEqual({ requestMs: 9 });
    expect(normalizeServer("x", { command: "c", timeout: 9, timeouts: { request_ms: 8 } }).timeouts).toEqual({
      requestMs: 8,
    });
  });

  it.each([
    [
      { type: "official", name: "n", version: "1" },
      { type: "official", name: "n", version: "1" },
    ],
    [{ Official: { name: "n", version: "1" } }, { type: "official", name: "n", version: "1" }],
    [
      { registry: "official", name: "n", version: "1" },
      { type: "official", name: "n", version: "1" },
    ],
    [
      { registry: "smithery", name: "q" },
      { type: "smithery", qualifiedName: "q" },
    ],
    [
      { registry: "company", name: "n", version: "1" },
      { type: "registry", registry: "company", name: "n", version: "1" },
    ],
    [
      { registry: "docker", name: "time" },
      { type: "registry", registry: "docker", name: "time" },
    ],
    [
      { type: "smithery", qualified_name: "q" },
      { type: "smithery", qualifiedName: "q" },
    ],
    [
      { type: "smithery", qualifiedName: "q" },
      { type: "smithery", qualifiedName: "q" },
    ],
    [{ type: "manual" }, { type: "manual" }],
    ["Manual", { type: "manual" }],
    ["custom", { type: "manual" }],
  ])("CF-1 source %j", (source, expected) => {
    expect(normalizeServer("x", { command: "c", source }).source).toEqual(expected);
  });

  it.each([
    [{ env: { A: "v", B: "${B}" } }, { A: { value: "v" }, B: { value: "${B}" } }],
    [{ env: { PORT: 3000, ON: true } }, { PORT: { value: "3000" }, ON: { value: "true" } }],
    [{ env_vars: { A: { value: "v", is_secret: true } } }, { A: { value: "v", isSecret: true } }],
    [
      { envVars: { A: { secretRef: "s", isSecret: true, required: true } } },
      { A: { secretRef: "s", isSecret: true, required: true } },
    ],
    [{ env_vars: [{ name: "A", secret_ref: "s" }] }, { A: { secretRef: "s" } }],
    [{ env_vars: { A: { name: "A", value: null, secret_ref: null, is_secret: false } } }, { A: { isSecret: false } }],
    [
      { env: { A: "1" }, env_vars: { B: "2" } },
      { A: { value: "1" }, B: { value: "2" } },
    ],
  ])("CF-6 %j", (variables, expected) => {
    expect(normalizeServer("x", { command: "c", ...variables }).env).toEqual(expected);
  });
});

describe("parseGroups", () => {
  const group = { name: "work", description: "d", servers: ["git"], tools: ["git:*", "read"] };

  it("GR-1 reads a map at the top level or under groups", () => {
    const { name: _name, ...entry } = group;
    expect(parseGroups({ $schema: "s", work: entry }).groups).toEqual([group]);
    expect(parseGroups({ $schema: "s", groups: { work: entry } }).groups).toEqual([group]);
  });

  it("GR-1 absent lists are empty", () => {
    expect(parseGroups({ all: {} }).groups).toEqual([{ name: "all", servers: [], tools: [] }]);
  });

  it.each([
    [[], "The groups must be an object that maps names to groups", undefined],
    [{ groups: [] }, "groups must be an object", "groups"],
  ])("GR-1 rejects %j", (json, message, field) => {
    expect(() => parseGroups(json)).toThrow(expect.objectContaining({ kind: "InvalidConfig", message, field }));
  });

  it.each([
    [{ work: [] }, 'Group "work": The entry must be an object', "work"],
    [{ groups: { work: { servers: "git" } } }, 'Group "work": servers must be a list', "groups.work.servers"],
    [{ "a b": {} }, 'Group "a b": Name may only contain letters, digits, _ and -', "a b.name"],
    [{ work: { tools: [""] } }, 'Group "work": Tool name is required', "work.tools.0"],
  ])("CF-8 %j invalidates only that group", (json, message, field) => {
    const { groups, invalidGroups } = parseGroups(json);
    expect(groups).toEqual([]);
    expect(invalidGroups).toMatchObject([{ error: { kind: "InvalidConfig", message, field } }]);
  });
});

describe("CF-1 isolation", () => {
  it.each([
    [undefined, undefined],
    ["auto", undefined],
    ["shared", "shared"],
    ["per-session", "per-session"],
    ["per-principal", "per-principal"],
    ["per-call", "per-call"],
  ])("%s", (isolation, expected) => {
    expect(normalizeServer("x", { command: "c", ...(isolation && { isolation }) }).isolation).toBe(expected);
  });

  it.each([
    [undefined, undefined],
    ["auto", undefined],
    ["modern", "modern"],
    ["legacy", "legacy"],
  ])("era %s", (era, expected) => {
    expect(normalizeServer("x", { command: "c", ...(era && { era }) }).era).toBe(expected);
  });

  it.each([
    [{ isolation: "per-user" }, "isolation"],
    [{ isolation: true }, "isolation"],
    [{ era: "2025" }, "era"],
    [{ resilience: { max_instances: 0 } }, "resilience.max_instances"],
    [{ resilience: { instance_idle_ms: 0 } }, "resilience.instance_idle_ms"],
  ])("CF-7 %j is rejected", (entry, field) => {
    expect(() => normalizeServer("x", { command: "c", ...entry })).toThrow(
      expect.objectContaining({ code: "VALIDATION_ERROR", field }),
    );
  });
});

describe("CF-1 npm", () => {
  const pkg = { package: { type: "npm", identifier: "p" } };

  it.each([
    [{ command: "npx", args: ["p"] }, undefined, undefined],
    [{ command: "npx", args: ["p"] }, "npx", "npx"],
    [pkg, "managed", "managed"],
  ])("%j %s", (entry, npm, expected) => {
    expect(normalizeServer("x", { ...entry, ...(npm && { npm }) }).npm).toBe(expected);
  });

  it.each([
    [{ command: "npx", args: ["p"], npm: "yarn" }],
    [{ command: "uvx", args: ["p"], npm: "npx" }],
    [{ url: "http://127.0.0.1/mcp", npm: "managed" }],
  ])("%j is rejected", (entry) => {
    expect(() => normalizeServer("x", entry)).toThrow(expect.objectContaining({ kind: "InvalidConfig", field: "npm" }));
  });
});
