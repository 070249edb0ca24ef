import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ScriptedServer, type Script } from "../../../test/support/oauth/scripted-server.ts";
import { offersDeviceFlow, pollDevice, startDevice, type DeviceCode } from "./device.ts";
import { createGuardedFetch } from "./fetch/guarded-fetch.ts";
import type { AuthorizationServerMetadata, TokenEndpoint } from "./types.ts";

const GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const ANSWER = {
  device_code: "dc",
  user_code: "ABCD-EFGH",
  verification_uri: "https://as.example/device",
  verification_uri_complete: "https://as.example/device?user_code=ABCD-EFGH",
  expires_in: 900,
  interval: 3,
};

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start();
});
afterEach(() => server.close());

function endpoint(
  metadata: Partial<AuthorizationServerMetadata> = {},
  more: Partial<TokenEndpoint> = {},
): TokenEndpoint {
  return {
    discovery: {
      issuer: server.url,
      metadata: {
        issuer: server.url,
        token_endpoint: `${server.url}/token`,
        device_authorization_endpoint: `${server.url}/device`,
        ...metadata,
      },
    },
    client: { id: "client", method: "none", how: "configured", issuer: server.url },
    fetch: createGuardedFetch({ server: new URL(server.url) }),
    resource: "https://mcp.example.com/mcp",
    ...more,
  };
}

const error = (code: string): Script => ({ status: 400, body: { error: code } });
const tokens: Script = { body: { access_token: "at", token_type: "Bearer" } };

/** Answers in turn, and the last one from then on. */
function inTurn(...scripts: Script[]): Script {
  return () => (scripts.length > 1 ? scripts.shift() : scripts[0]) ?? "hang";
}

describe("AU-1 the start of a device flow", () => {
  it("gives the code to enter and where", async () => {
    server.scripts = { "/device": { body: ANSWER } };
    expect(await startDevice(endpoint(), { scopes: ["a", "b"] })).toEqual({
      deviceCode: "dc",
      userCode: "ABCD-EFGH",
      verificationUri: "https://as.example/device",
      verificationUriComplete: "https://as.example/device?user_code=ABCD-EFGH",
      expiresIn: 900,
      interval: 3,
    });
    expect(Object.fromEntries(server.requests[0]?.form ?? [])).toEqual({
      client_id: "client",
      scope: "a b",
      resource: "https://mcp.example.com/mcp",
    });
  });

  it("knows defaults, and Google's name for the address", async () => {
    const { device_code, user_code, verification_uri: verification_url } = ANSWER;
    server.scripts = { "/device": { body: { device_code, user_code, verification_url } } };
    expect(await startDevice(endpoint(), { scopes: [] })).toEqual({
      deviceCode: "dc",
      userCode: "ABCD-EFGH",
      verificationUri: verification_url,
      expiresIn: 600,
      interval: 5,
    });
  });

  it.each<[string, Script, string]>([
    [
      "A08 an address for no browser",
      { body: { ...ANSWER, verification_uri: "javascript:alert(1)" } },
      "UnsafeAddress",
    ],
    ["A08 no address", { body: { ...ANSWER, verification_uri: undefined } }, "UnsafeAddress"],
    ["no code", { body: { ...ANSWER, user_code: "" } }, "ConnectionFailed"],
    ["a refusal", error("unauthorized_client"), "LoginFailed"],
    ["a failure", { status: 500 }, "ConnectionFailed"],
  ])("ends with %s", async (_name, script, kind) => {
    server.scripts = { "/device": script };
    await expect(startDevice(endpoint(), { scopes: [] })).rejects.toMatchObject({ kind });
  });

  it.each<[Partial<AuthorizationServerMetadata>, boolean]>([
    [{}, true],
    [{ grant_types_supported: ["authorization_code", GRANT] }, true],
    [{ grant_types_supported: ["authorization_code"] }, false],
    [{ device_authorization_endpoint: undefined } as unknown as Partial<AuthorizationServerMetadata>, false],
  ])("is offered by metadata with %j: %s", async (metadata, offered) => {
    expect(offersDeviceFlow(endpoint(metadata).discovery)).toBe(offered);
    if (offered) return;
    await expect(startDevice(endpoint(metadata), { scopes: [] })).rejects.toMatchObject({ kind: "LoginFailed" });
    expect(server.requests).toEqual([]);
  });
});

describe("AU-1 polling in a device flow", () => {
  const device: DeviceCode = {
    deviceCode: "dc",
    userCode: "U",
    verificationUri: "https://as.example/device",
    expiresIn: 900,
    interval: 5,
  };

  /** The seconds that were waited before each poll. */
  async function poll(script: Script, expiresIn = 900): Promise<{ waits: number[]; outcome: unknown }> {
    server.scripts = { "/token": script };
    const waits: number[] = [];
    const wait = (ms: number) => Promise.resolve(waits.push(ms / 1000));
    const outcome = await pollDevice(endpoint(), { ...device, expiresIn }, wait).catch((thrown: unknown) => thrown);
    return { waits, outcome };
  }

  it.each<[string, Script[], number[]]>([
    ["at once", [tokens], [5]],
    ["pending", [error("authorization_pending"), error("authorization_pending"), tokens], [5, 5, 5]],
    ["slow_down", [error("slow_down"), error("authorization_pending"), error("slow_down"), tokens], [5, 10, 10, 15]],
    ["failures", [{ status: 503 }, "reset", tokens], [5, 10, 20]],
    ["Retry-After", [{ status: 429, headers: { "retry-after": "60" } }, tokens], [5, 60]],
  ])("goes on until there are tokens: %s", async (_name, scripts, waits) => {
    const result = await poll(inTurn(...scripts));
    expect(result).toEqual({ waits, outcome: { access: "at", type: "Bearer" } });
    expect(Object.fromEntries(server.requests[0]?.form ?? [])).toMatchObject({ grant_type: GRANT, device_code: "dc" });
  });

  it.each(["access_denied", "expired_token", "invalid_grant"])("%s ends it", async (code) => {
    const { outcome, waits } = await poll(error(code));
    expect(outcome).toMatchObject({ kind: "LoginFailed", failure: { type: "refused", code } });
    expect(waits).toEqual([5]);
  });

  it("ends when the code has expired", async () => {
    const { outcome, waits } = await poll(error("authorization_pending"), 12);
    expect(outcome).toMatchObject({ kind: "LoginFailed", message: "The code of the login has expired" });
    expect(waits).toEqual([5, 5]);
  });

  it("ends when the caller gives up, also while it waits", async () => {
    const caller = new AbortController();
    const outcome = pollDevice(endpoint({}, { signal: caller.signal }), device);
    caller.abort();
    await expect(outcome).rejects.toMatchObject({ kind: "Cancelled" });
    expect(server.requests).toEqual([]);
  });
});
