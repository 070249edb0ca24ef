// Real client programs log in at the hub's own authorization server: the TypeScript SDKs, the Python SDK, and mcp-remote. The
// Inspector does in inspector.test.ts.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { Browser } from "../support/oauth/browser.ts";
import { consent, openIssuerHub, type IssuerHub } from "../support/oauth/issuer-hub.ts";
import { sdkLogin } from "../support/oauth/sdk-login.ts";
import { findPython } from "../support/python.ts";

const MCP_REMOTE = fileURLToPath(new URL("../../node_modules/mcp-remote/dist/proxy.js", import.meta.url));
const PROGRAM = fileURLToPath(new URL("../clients/python/oauth_client.py", import.meta.url));
const python = await findPython("mcp", "httpx2");

let at: IssuerHub;

beforeAll(async () => {
  at = await openIssuerHub();
});

afterAll(() => at.end());

/** A person who allows everything that is asked for, in the group `dev`. */
const person = {
  approve: (browser: Parameters<typeof consent>[3], url: string) =>
    consent(at, url, { fields: { group: "dev" } }, browser),
};

describe("AU-4 a real client logs in at the hub", () => {
  it.each(["2025-11-25", "2026-07-28"])("the TypeScript SDK 2, with %s", async (revision) => {
    const { client, accessToken } = await sdkLogin(`${at.url}/groups/dev/mcp`, person, { revision });
    onTestFinished(() => client.close());
    expect(accessToken).toMatch(/^pbo_/);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("read_graph");
  });

  it("the TypeScript SDK 1", async () => {
    const redirectUrl = "http://localhost:3030/callback";
    const kept: { client?: unknown; tokens?: unknown; verifier?: string; address?: URL } = {};
    const authProvider = {
      redirectUrl,
      clientMetadata: { client_name: "SDK 1", redirect_uris: [redirectUrl], token_endpoint_auth_method: "none" },
      clientInformation: () => kept.client,
      saveClientInformation: (client: unknown) => void (kept.client = client),
      tokens: () => kept.tokens,
      saveTokens: (tokens: unknown) => void (kept.tokens = tokens),
      redirectToAuthorization: (address: URL) => void (kept.address = address),
      saveCodeVerifier: (verifier: string) => void (kept.verifier = verifier),
      codeVerifier: () => kept.verifier ?? "",
    } as OAuthClientProvider;
    const transport = () => new StreamableHTTPClientTransport(new URL(`${at.url}/mcp/dev`), { authProvider });
    const client = () => new Client({ name: "sdk-1", version: "1" });
    const first = transport();
    await expect(client().connect(first)).rejects.toThrow("Unauthorized");
    const page = await person.approve(undefined, kept.address?.href ?? "");
    await first.finishAuth(new URL(page.url).searchParams.get("code") ?? "");
    const connected = client();
    await connected.connect(transport());
    onTestFinished(() => connected.close());
    expect((await connected.listTools()).tools.map(({ name }) => name)).toContain("read_graph");
  });

  it.skipIf(python.kind === "missing")("the Python SDK", async () => {
    const path = python.kind === "found" ? python.path : "";
    const child = spawn(path, [PROGRAM, `${at.url}/mcp/dev`], { stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const address = (await lines.next()).value as string;
    const page = await person.approve(undefined, address);
    child.stdin.end(`${page.url}\n`);
    expect((await lines.next()).value).toMatch(/^tools: .*read_graph/);
    await once(child, "exit");
  });

  it("mcp-remote, which keeps its login", async () => {
    const folder = await mkdtemp(join(tmpdir(), "mcp-remote-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const start = () => {
      // Without a desktop, nothing but `true` is started as a browser.
      const env = { HOME: folder, MCP_REMOTE_CONFIG_DIR: folder, PATH: process.env["PATH"] ?? "", BROWSER: "true" };
      const args = [MCP_REMOTE, `${at.url}/mcp/dev`];
      const transport = new StdioClientTransport({ command: process.execPath, args, env, stderr: "pipe" });
      const client = new Client({ name: "a program that only knows stdio", version: "1" });
      onTestFinished(() => client.close());
      if (transport.stderr === null) throw new Error("mcp-remote has no stderr");
      return { client, connected: client.connect(transport), lines: createInterface(transport.stderr as Readable) };
    };
    const first = start();
    for await (const line of first.lines) {
      if (!line.startsWith(`${at.url}/oauth/authorize?`)) continue;
      // The page at which the browser arrives is of mcp-remote.
      const browser = new Browser();
      const callback = await person.approve(browser, line);
      expect((await browser.open(callback.url)).status).toBe(200);
      break;
    }
    await first.connected;
    const { client } = first;
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("read_graph");
    const entities = [{ name: "mcp-remote", entityType: "program", observations: ["logged in"] }];
    await client.callTool({ name: "create_entities", arguments: { entities } });
    const { structuredContent } = await client.callTool({ name: "read_graph" });
    expect(structuredContent).toMatchObject({ entities: [{ name: "mcp-remote" }] });
    const [login] = (await at.hub.issuer?.logins())?.filter(({ clientName }) => clientName.includes("MCP CLI")) ?? [];
    expect(login).toMatchObject({ principal: "local", groups: ["dev"], redirectHost: "localhost" });
    await client.close();

    const second = start();
    await second.connected;
    expect((await second.client.listTools()).tools.length).toBeGreaterThan(0);
    expect(await at.hub.issuer?.logins()).toContainEqual(expect.objectContaining({ id: login?.id }));
  });
});
