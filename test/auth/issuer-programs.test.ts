// Real client programs log in at the hub's own authorization server: the TypeScript SDKs and the Python SDK.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { consent, openIssuerHub, type IssuerHub } from "../support/oauth/issuer-hub.ts";
import { sdkLogin } from "../support/oauth/sdk-login.ts";
import { findPython } from "../support/python.ts";

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
});
