// Attacks by metadata: a protected server or an authorization server whose documents lead elsewhere. Nothing is opened and
// nothing is sent.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { isCallback } from "../support/oauth/oauth-hub.ts";
import { Browser } from "../support/oauth/browser.ts";
import { useOAuth, type Protected } from "../support/oauth/protected-pair.ts";

const { hub, protect, protectLoggedIn, closeLater } = useOAuth();

type Document = Record<string, unknown>;

/** What the hub says when it refuses to begin a login. It has not come further than the metadata. */
async function refusalOf({ name, issuer, server }: Protected): Promise<string> {
  const { status, json } = await hub().api("POST", `/servers/${name}/login`, {});
  expect(status).toBeGreaterThanOrEqual(400);
  expect(issuer.front.passed.filter(({ endpoint }) => endpoint !== "metadata")).toEqual([]);
  expect(server.authorized).toEqual([]);
  return JSON.stringify(json);
}

/** A listener that nothing may connect to. */
async function openInside() {
  const server = createServer((_, response) => void response.end("{}"));
  let hits = 0;
  server.on("connection", () => hits++);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closeLater({
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, hits: () => hits };
}

describe("PKCE", () => {
  it.each([
    [
      "that does not mention PKCE",
      (document: Document) => ({ ...document, code_challenge_methods_supported: undefined }),
    ],
    [
      "with the method plain only",
      (document: Document) => ({ ...document, code_challenge_methods_supported: ["plain"] }),
    ],
  ])("A05 AU-1 an authorization server %s is refused", async (_, change) => {
    const place = await protect();
    place.issuer.front.change("metadata", change);
    expect(await refusalOf(place)).toMatch(/PKCE|S256/);
  });

  it("A05 AU-1 is used anyway where the entry says so", async () => {
    const place = await protect({ entry: { auth: { pkce: "assume" } } });
    place.issuer.front.change("metadata", (document) => ({ ...document, code_challenge_methods_supported: undefined }));
    expect(await hub().logIn(place.name, place.issuer)).toMatchObject({ state: "completed" });
    expect(place.issuer.front.of("authorize")[0]?.query.get("code_challenge_method")).toBe("S256");
  });
});

describe("addresses inside", () => {
  it.each([
    "http://169.254.169.254/latest/meta-data",
    "http://10.0.0.1",
    "http://192.168.1.1",
    "http://[fe80::1]",
    "http://0xa9fea9fe/",
    "http://[::ffff:169.254.169.254]/",
  ])("A07 AU-1 an authorization server at %s is not asked", async (address) => {
    const place = await protect();
    place.server.settings.issuers = [address];
    expect(await refusalOf(place)).toMatch(/address|not allowed|private|link-local|reserved|https/i);
  });

  it("A07 AU-1 a redirect of the metadata to another origin is not followed", async () => {
    const place = await protect();
    const inside = await openInside();
    const headers = { location: `${inside.url}/metadata` };
    place.server.settings.metadata = () => new Response(null, { status: 302, headers });
    expect(await refusalOf(place)).toMatch(/redirect/i);
    place.server.settings.metadata = (document) => document;
    place.issuer.front.fail("metadata", { do: "answer", status: 302, headers });
    expect(await refusalOf(place)).toMatch(/redirect/i);
    expect(inside.hits()).toBe(0);
  });

  it("A07 AU-1 a document without end, and one that drips, are given up", async () => {
    const place = await protect();
    place.server.settings.metadata = () => new Response(Buffer.alloc(10 << 20, " "));
    expect(await refusalOf(place)).toMatch(/large|long|bytes|KiB/i);
    place.server.settings.metadata = () => new Response(drip());
    // It never ends by itself.
    expect(await refusalOf(place)).toMatch(/time|answer/i);
  });
});

function drip(): ReadableStream<Uint8Array> {
  let timer: NodeJS.Timeout;
  return new ReadableStream({
    start: (controller) => {
      timer = setInterval(() => controller.enqueue(Buffer.from(" ")), 200);
    },
    cancel: () => clearInterval(timer),
  });
}

describe("dangerous addresses", () => {
  it.each([
    ["javascript:alert(1)"],
    ["file:///etc/passwd"],
    ["http://evil.example/$(id)"],
    ["--flag"],
    ["https://a b/authorize"],
    ["https://user:password@evil.example/"],
    ["https://evil.example/\u0007"],
    [`https://evil.example/${"x".repeat(10_000)}`],
  ])("A08 AU-1 an authorization endpoint %.40s is refused", async (address) => {
    const place = await protect();
    place.issuer.front.change("metadata", (document) => ({ ...document, authorization_endpoint: address }));
    expect(await refusalOf(place)).toMatch(/authorization_endpoint|address/i);
  });
});

describe("issuers", () => {
  it("A09 AU-1 metadata of another issuer than the one that was asked for are refused", async () => {
    const place = await protect();
    place.issuer.front.change("metadata", (document) => ({ ...document, issuer: "https://evil.example" }));
    expect(await refusalOf(place)).toMatch(/issuer/i);
  });

  it("A09 AU-1 a pinned issuer that the server does not name any more is not replaced by another one", async () => {
    const place = await protect({ entry: { auth: { issuer: "https://pinned.example" } } });
    expect(await refusalOf(place)).toMatch(/pinned\.example/);
  });

  it("A09 AU-1 a second authorization server that the server adds gets nothing", async () => {
    const [place, evil] = [await protect(), await protect()];
    place.server.settings.issuers = [place.issuer.issuer, evil.issuer.issuer];
    expect(await hub().logIn(place.name, place.issuer)).toMatchObject({ state: "completed" });
    expect(evil.issuer.front.passed).toEqual([]);
  });

  it("A09 AU-1 a change between authorization and callback does not send the code elsewhere", async () => {
    const [place, evil] = [await protect(), await protect()];
    const { id, url } = await hub().begin(place.name);
    const { url: callback } = await place.issuer.approve(new Browser(), url, isCallback);
    place.server.settings.issuers = [evil.issuer.issuer];
    place.issuer.front.change("metadata", (document) => ({
      ...document,
      token_endpoint: `${evil.issuer.issuer}/token`,
    }));
    await hub().visit(callback);
    expect(await hub().ended(id)).toMatchObject({ state: "completed" });
    expect(place.issuer.front.grants("authorization_code")).toHaveLength(1);
    expect(evil.issuer.front.of("token")).toEqual([]);
  });

  it("A09 AU-1 a server that moves to another authorization server needs a new login there, with a new client", async () => {
    const [place, other] = [await protectLoggedIn(), await protect()];
    const oldClient = place.issuer.front.of("authorize")[0]?.query.get("client_id") ?? "";
    other.issuer.settings.resources.set(place.server.url, place.server.allScopes);
    place.server.settings.issuers = [other.issuer.issuer];
    place.server.revokeTokens();
    expect((await hub().call(place.name, "whoami")).error).toMatchObject({ kind: "LoginRequired" });
    expect(await hub().logIn(place.name, other.issuer)).toMatchObject({ state: "completed" });
    expect((await hub().call(place.name, "whoami")).text).toContain("alice");
    expect(JSON.stringify(other.issuer.front.passed.map(({ body, query }) => [body, [...query]]))).not.toContain(
      oldClient,
    );
  });
});

describe("resources", () => {
  it.each([
    ["another origin", () => "https://other.example/mcp"],
    ["another path", ({ origin }: Protected["server"]) => `${origin}/other`],
    ["a path that only begins alike", ({ origin }: Protected["server"]) => `${origin}/mc`],
    ["a longer path", ({ url }: Protected["server"]) => `${url}2`],
    ["an address with a fragment", ({ url }: Protected["server"]) => `${url}#x`],
  ])("A10 AU-1 metadata about %s are refused", async (_, resource) => {
    const place = await protect();
    place.server.settings.metadata = (document) => ({ ...document, resource: resource(place.server) });
    expect(await refusalOf(place)).toMatch(/resource/i);
  });

  it("A10 AU-1 a token is asked for the resource that the metadata names, letter by letter", async () => {
    const place = await protect();
    expect(await hub().logIn(place.name, place.issuer)).toMatchObject({ state: "completed" });
    const { front } = place.issuer;
    expect(front.of("authorize")[0]?.query.getAll("resource")).toEqual([place.server.url]);
    expect(front.of("token")[0]?.form.getAll("resource")).toEqual([place.server.url]);
  });
});

describe("errors", () => {
  it.each([
    ["status 500", () => new Response("oops", { status: 500 })],
    ["no JSON", () => new Response("<html>")],
    ["a JSON text that is no object", () => Response.json(["x"])],
  ])("A33 AU-1 %s instead of the metadata is no reason to ask the server's own origin", async (_, answer) => {
    const place = await protect();
    place.server.settings.metadata = answer;
    expect(await refusalOf(place)).toMatch(/metadata/i);
    const paths = new Set(place.server.received.map(({ path }) => path));
    expect(
      [...paths].filter((path) => !/^\/(?:mcp|\.well-known\/oauth-protected-resource(?:\/mcp)?)$/.test(path)),
    ).toEqual([]);
  });
});
