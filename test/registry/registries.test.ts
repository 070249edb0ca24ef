// Registries over HTTP: pages, errors, hostile entries, and what is shown while one cannot be reached.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chooseDraft } from "../../hub/src/registry/draft/draft.ts";
import { Registries } from "../../hub/src/registry/registries.ts";
import { FakeRegistry, META, npmServer } from "../support/fake-registry.ts";

let fake: FakeRegistry;
let folder: string;
let now: number;
let registries: Registries;

const MINUTE = 60_000;

function open(entries: ConstructorParameters<typeof Registries>[0]["entries"]): Registries {
  return new Registries({ entries, folder, secret: async () => undefined, path: process.env["PATH"], now: () => now });
}

beforeEach(async () => {
  fake = await FakeRegistry.open([
    npmServer("io.example/alpha"),
    npmServer("io.example/alpine"),
    npmServer("io.example/alps"),
    npmServer("io.example/beta"),
  ]);
  folder = await mkdtemp(join(tmpdir(), "plugboard-registry-"));
  now = Date.UTC(2026, 0, 1);
  registries = open(["curated", { name: "company", url: `${fake.url}/` }]);
});
afterEach(async () => {
  await fake.close();
  await rm(folder, { recursive: true, force: true });
});

const names = (found: { readonly servers: readonly { readonly name: string }[] }) =>
  found.servers.map(({ name }) => name);
const search = (query: string, more: object = {}) => registries.search({ query, registry: "company", ...more });

describe("RG-1 search", () => {
  it("RG-1 follows cursors", async () => {
    const first = await search("alp");
    expect(names(first)).toEqual(["io.example/alpha", "io.example/alpine"]);
    const second = await search("alp", { cursor: first.nextCursor });
    expect(names(second)).toEqual(["io.example/alps"]);
    expect(second.nextCursor).toBeUndefined();
    await expect(search("alp", { cursor: "nonsense" })).rejects.toMatchObject({ kind: "InvalidArgument" });
  });

  it("RG-1 several registries at once, each result with its registry", async () => {
    fake.servers.unshift(npmServer("io.example/brave-search"));
    const found = await registries.search({ query: "brave search" });
    expect(found.servers.map(({ registry, name }) => `${registry} ${name}`)).toEqual([
      "curated brave-search",
      "company io.example/brave-search",
    ]);
    expect(found.registries).toMatchObject([
      { registry: "curated", count: 1 },
      { registry: "company", count: 1 },
    ]);
  });

  it("RG-1 a registry that fails holds up no other, and its error is said", async () => {
    fake.mood = 500;
    const found = await registries.search({ query: "filesystem" });
    expect(names(found)).toEqual(["filesystem"]);
    expect(found.registries[1]).toMatchObject({
      registry: "company",
      error: { code: "NETWORK_ERROR", message: "company answered with HTTP status 500" },
    });
  });

  it("RG-1 deleted servers are hidden, and deprecated ones are said to be", async () => {
    fake.servers = [
      { ...npmServer("io.example/gone"), _meta: { [META]: { status: "deleted" } } },
      { ...npmServer("io.example/old"), _meta: { [META]: { status: "deprecated" } } },
    ];
    expect((await search("example")).servers).toMatchObject([{ name: "io.example/old", state: "deprecated" }]);
    await expect(registries.get("io.example/gone", { registry: "company" })).rejects.toMatchObject({
      kind: "ServerNotFound",
      message: "io.example/gone was removed from company",
    });
  });

  it("RG-1 SE-5 hostile entries are left out, or have a reason; the others are found", async () => {
    fake.pageSize = 100;
    fake.servers = [
      { name: 7 },
      { name: "io.example/\u001b[31mred" },
      npmServer("io.example/flag", { identifier: "--call=id" }),
      { name: "io.example/inside", version: "1.0.0", remotes: [{ type: "sse", url: "https://192.168.0.1/sse" }] },
      { name: "io.example/text", version: "1.0.0", packages: "npx evil" },
      npmServer("io.example/good"),
    ];
    expect(names(await search("io.example"))).toEqual(["io.example/flag", "io.example/inside", "io.example/good"]);
    const flag = await registries.get("io.example/flag", { registry: "company" });
    expect(() => chooseDraft(flag.record, flag, undefined)).toThrow(/cannot be added/);
    expect(flag.unusable).toMatchObject([{ reason: expect.stringContaining("not a valid npm package") }]);
    await expect(registries.get("io.example/text", { registry: "company" })).rejects.toMatchObject({
      kind: "InvalidConfig",
      message: "packages must be a list",
    });
  });

  it("RG-1 SE-5 a huge answer is refused", async () => {
    fake.servers = [npmServer("io.example/huge", { identifier: "x".repeat(33 * 1024 * 1024) })];
    expect((await search("huge")).registries[0]?.error?.message).toMatch(/larger than/);
  });
});

describe("RG-1 a registry that cannot be used now", () => {
  it.each([
    [500, /HTTP status 500/],
    [429, /takes no more requests for 7 s/],
    [403, /refuses the request/],
    ["malformed", /not JSON/],
    ["html", /not JSON/],
    ["truncated", /broke/],
    ["another list", /not a list of servers/],
  ] as const)("RG-1 %s: the error is said", async (mood, message) => {
    fake.mood = mood;
    expect((await search("alpha")).registries[0]?.error?.message).toMatch(message);
    await expect(registries.get("io.example/alpha", { registry: "company" })).rejects.toThrow(
      message.source === "not a list of servers" ? /./ : message,
    );
  });

  it.each([500, 429, "truncated"] as const)("RG-1 %s: what was seen before is shown with its age", async (mood) => {
    await search("alpha");
    await registries.get("io.example/beta", { registry: "company" });
    const seenAt = now;
    now += 120 * MINUTE;
    fake.mood = mood;
    const again = await search("alpha");
    expect(names(again)).toEqual(["io.example/alpha"]);
    expect(again.registries[0]).toMatchObject({ seenAt, problem: expect.any(String) });
    expect(await registries.get("io.example/beta", { registry: "company" })).toMatchObject({
      record: { name: "io.example/beta" },
      seenAt,
      problem: expect.any(String),
    });
    const other = await search("example alp");
    expect(names(other), "an answer to another question").toEqual(["io.example/alpha"]);
    expect(await registries.get("io.example/alpha", { registry: "company" }), "seen in a list").toMatchObject({
      record: { name: "io.example/alpha" },
    });
    expect(
      (await open([{ name: "company", url: fake.url }]).search({ query: "alpha" })).servers,
      "another process",
    ).toHaveLength(1);
  });

  it("RG-1 an answer is not asked for again within minutes", async () => {
    await search("alpha");
    await search("alpha");
    expect(fake.asked).toHaveLength(1);
    now += 6 * MINUTE;
    await search("alpha");
    expect(fake.asked).toHaveLength(2);
  });

  it("RG-1 a search that is given up is cancelled", async () => {
    fake.delayMs = 60_000;
    const giveUp = new AbortController();
    const searching = registries.search({ query: "alpha", registry: "company", signal: giveUp.signal });
    await expect.poll(() => fake.asked.length).toBe(1);
    giveUp.abort();
    expect((await searching).registries[0]?.error).toMatchObject({ code: "CANCELLED" });
  });

  it("RG-1 a server of the first registry that has it; a registry that failed may have it", async () => {
    expect((await registries.get("io.example/beta")).registry).toBe("company");
    await expect(registries.get("io.example/none")).rejects.toMatchObject({ kind: "ServerNotFound" });
    fake.mood = 500;
    await expect(registries.get("io.example/none")).rejects.toMatchObject({
      kind: "ConnectionFailed",
      message: "io.example/none was not found, and company could not be asked",
    });
  });

  it("RG-1 an answer about another server is refused", async () => {
    fake.servers = [{ ...npmServer("io.example/alpha", {}, "2.0.0") }];
    await expect(registries.get("io.example/alpha", { registry: "company", version: "1.0.0" })).rejects.toMatchObject({
      kind: "ServerNotFound",
    });
  });
});

describe("RG-1 other kinds of registries", () => {
  it("RG-1 a key is sent, and only to its registry", async () => {
    const keyed = open([{ name: "company", url: fake.url, key: "k3y" }]);
    await keyed.search({ query: "alpha" });
    expect(fake.authorizations).toEqual(["Bearer k3y"]);
  });

  it("RG-1 a folder of Docker's catalogue, and an address that is not configured", async () => {
    const docker = open([
      { name: "ours", type: "docker", path: join(import.meta.dirname, "../fixtures/docker-catalogue") },
    ]);
    expect(names(await docker.search({ query: "sqlite" }))).toEqual(["SQLite"]);
    const { drafts } = await docker.get("apify");
    expect(drafts[0]?.entry).toMatchObject({
      url: "https://mcp.apify.com",
      source: { registry: "ours", name: "apify" },
    });
    expect(names(await docker.search({ query: "beta", registry: fake.url }))).toEqual(["io.example/beta"]);
  });

  it("RG-1 a folder of server.json files", async () => {
    const path = join(import.meta.dirname, "../fixtures/server-json");
    const files = open([{ name: "files", path }]);
    expect(names(await files.search({ query: "earliest" }))).toEqual(["io.github.example/weather"]);
    expect((await files.get("io.github.example/many")).drafts.map(({ kind }) => kind)).toContain("npm");
  });

  it("RG-1 Smithery: without its key it is not searched, and says what it needs", async () => {
    const smithery = open(["curated", { name: "smithery", url: fake.url }]);
    expect((await smithery.search({ query: "time" })).registries.map(({ registry }) => registry)).toEqual(["curated"]);
    expect((await smithery.search({ query: "time", registry: "smithery" })).registries[0]?.error).toMatchObject({
      kind: "SecretRequired",
      hint: "plugboard secret set SMITHERY_API_KEY",
    });
  });

  it.each([
    [[{ name: "x" }], /needs a url or a path/],
    [[{ name: "x", url: "ftp://x" }], /must begin with https/],
    [[{ name: "x", path: "relative" }], /must be absolute/],
  ])("RG-1 %j is refused", async (entries, message) => {
    await expect(open(entries).search({ query: "x" })).rejects.toThrow(message);
  });
});
