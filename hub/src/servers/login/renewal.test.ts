import { expect, it, describe } from "vitest";
import { TokenEndpointError, type TokenFailure } from "../../oauth/token-endpoint.ts";
import type { TokenSet } from "../../oauth/types.ts";
import type { LoginRecord } from "../../secrets/login-store.ts";
import { MemoryLogins } from "../../secrets/memory-logins.ts";
import { renew } from "./renewal.ts";

const KEY = { server: "linear", principal: "local" };
const CLOCK = { now: () => 5000, monotonic: () => 0 };

const RECORD: LoginRecord = {
  v: 1,
  ...KEY,
  url: "https://mcp.example/mcp",
  issuer: "https://as.example",
  client: { id: "c", method: "none", how: "registered", issuer: "https://as.example" },
  access: "access-1",
  type: "Bearer",
  receivedAt: 1000,
  expiresIn: 3600,
  refresh: "refresh-1",
  requested: ["read"],
  generation: 4,
  previous: "refresh-0",
};

const NEW: TokenSet = { access: "access-2", type: "Bearer", expiresIn: 60, refresh: "refresh-2" };

/** A store with this record, and an authorization server that answers in this order. */
async function renewing(record: LoginRecord | undefined, answers: readonly (TokenSet | TokenFailure)[], seen = 4) {
  const store = new MemoryLogins();
  if (record !== undefined) await store.edit(KEY, (slot) => slot.write(record));
  const sent: string[] = [];
  const saved: (LoginRecord | undefined)[] = [];
  const refresh = async (_: LoginRecord, token: string) => {
    saved.push(await store.read(KEY));
    const answer = answers[sent.push(token) - 1];
    if (answer === undefined) throw new Error("No more answers");
    if ("access" in answer) return answer;
    throw new TokenEndpointError(answer, "The authorization server refused it");
  };
  const result = await renew({ store, key: KEY, clock: CLOCK, refresh }, seen).catch((error: unknown) => error);
  return { result, sent, saved, stored: await store.read(KEY) };
}

const refused = (code: string): TokenFailure => ({ type: "refused", code });

describe("AU-1 a renewal", () => {
  it("A16 is marked as sent before it is sent, and saved before it is used", async () => {
    const { result, sent, saved, stored } = await renewing(RECORD, [NEW]);
    expect(sent).toEqual(["refresh-1"]);
    expect(saved[0]).toMatchObject({ sentAt: 5000, refresh: "refresh-1" });
    expect(stored).toMatchObject({ access: "access-2", refresh: "refresh-2", previous: "refresh-1", generation: 5 });
    expect(stored).not.toHaveProperty("sentAt");
    expect(result).toEqual({ outcome: "renewed", record: stored, byUs: true });
  });

  it("keeps the refresh token where the authorization server sends no new one", async () => {
    const { stored } = await renewing(RECORD, [{ access: "access-2", type: "Bearer" }]);
    expect(stored).toMatchObject({ refresh: "refresh-1", previous: "refresh-0" });
    expect(stored).not.toHaveProperty("expiresIn");
  });

  it("A15 uses what another process has renewed meanwhile", async () => {
    const { result, sent } = await renewing(RECORD, [], 3);
    expect(sent).toEqual([]);
    expect(result).toMatchObject({ outcome: "renewed", byUs: false, record: { access: "access-1" } });
  });

  it("finds that another process has logged out", async () => {
    expect((await renewing(undefined, [])).result).toEqual({ outcome: "gone" });
  });

  it.each<[string, TokenFailure]>([
    ["a lost answer", { type: "transient", delivery: "unknown" }],
    ["an unreachable authorization server", { type: "transient", delivery: "unsent" }],
    ["503 with Retry-After", { type: "transient", delivery: "refused", retryAfterMs: 7000 }],
  ])("A17 %s changes nothing but the mark", async (_, failure) => {
    const { result, stored } = await renewing(RECORD, [failure]);
    expect(result).toBeInstanceOf(TokenEndpointError);
    expect(stored).toEqual({ ...RECORD, sentAt: 5000 });
  });

  it.each(["invalid_grant", "invalid_dpop_proof"])("%s ends the login, and keeps its access token", async (code) => {
    const { result, sent, stored } = await renewing(RECORD, [refused(code)]);
    expect(sent).toEqual(["refresh-1"]);
    expect(result).toMatchObject({ outcome: "ended", code });
    expect(stored).toMatchObject({ access: "access-1", ended: code });
    expect(stored).not.toHaveProperty("refresh");
  });

  it("A16 after an unknown outcome the previous refresh token is tried once", async () => {
    const lost = { ...RECORD, sentAt: 2000 };
    const { result, sent } = await renewing(lost, [refused("invalid_grant"), NEW]);
    expect(sent).toEqual(["refresh-1", "refresh-0"]);
    expect(result).toMatchObject({ outcome: "renewed", record: { refresh: "refresh-2" } });
    const both = await renewing(lost, [refused("invalid_grant"), refused("invalid_grant")]);
    expect(both.sent).toEqual(["refresh-1", "refresh-0"]);
    expect(both.result).toMatchObject({ outcome: "ended" });
  });

  it("a registration that is gone is forgotten, a configured client stays", async () => {
    const registered = await renewing(RECORD, [refused("invalid_client")]);
    expect(registered.result).toMatchObject({ outcome: "refused" });
    expect(registered.stored).toBeUndefined();
    const configured = { ...RECORD, client: { ...RECORD.client, how: "configured" as const } };
    expect((await renewing(configured, [refused("invalid_client")])).stored).toEqual(configured);
  });

  it.each(["invalid_scope", "invalid_target", "unsupported_grant_type"])("%s is a matter of config", async (code) => {
    const { result, stored } = await renewing(RECORD, [refused(code)]);
    expect(result).toMatchObject({ outcome: "refused", error: { failure: { code } } });
    expect(stored).toEqual(RECORD);
  });
});
