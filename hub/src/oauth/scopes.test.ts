import { describe, expect, it } from "vitest";
import { chooseScopes, type ScopeOptions } from "./scopes.ts";
import type { Challenge, Discovery } from "./types.ts";

function discoveryOf(resourceScopes?: string[], supported?: string[]): Discovery {
  const issuer = "https://as.example";
  const metadata = { issuer, ...(supported === undefined ? {} : { scopes_supported: supported }) };
  return { issuer, metadata, resource: undefined, resourceScopes, dpopRequired: false, isFallback: false };
}

const challengeOf = (scope: string): Challenge => ({ scheme: "Bearer", scope });

describe("AU-1 A34 the scopes of an authorization", () => {
  it.each<[string, Omit<ScopeOptions, "discovery">, Discovery, string]>([
    ["none where no one names any", { challenge: undefined }, discoveryOf(), ""],
    ["those of the challenge", { challenge: challengeOf("read write") }, discoveryOf(["admin"]), "read write"],
    ["else those of the server's metadata", { challenge: undefined }, discoveryOf(["read", "list"]), "read list"],
    ["blanks and duplicates make no difference", { challenge: challengeOf(" b  a\tb ") }, discoveryOf(), "b a"],
    ["no text that is no scope", { challenge: challengeOf('a b"c d\\e f\u0007') }, discoveryOf(["g\u00e4"]), "a"],
    [
      "a step-up of a login without scopes is like a first one",
      { challenge: undefined, earlier: [] },
      discoveryOf(["read"]),
      "read",
    ],
    ["configured ones win", { configured: ["mine"], challenge: challengeOf("read") }, discoveryOf(["x"]), "mine"],
    ["an empty configured list asks for none", { configured: [], challenge: challengeOf("read") }, discoveryOf(), ""],
    [
      "a step-up adds the challenged ones to the earlier ones, and not those of the metadata",
      { challenge: challengeOf("write"), earlier: ["read"] },
      discoveryOf(["admin"]),
      "read write",
    ],
    [
      "a step-up without challenged ones asks for the earlier ones, and not those of the metadata",
      { challenge: undefined, earlier: ["read"] },
      discoveryOf(["admin"]),
      "read",
    ],
    [
      "a step-up adds the challenged ones to the configured ones too",
      { configured: ["mine"], challenge: challengeOf("write"), earlier: ["mine"] },
      discoveryOf(),
      "mine write",
    ],
    [
      "offline_access where the authorization server lists it and there are others",
      { challenge: challengeOf("read") },
      discoveryOf(undefined, ["read", "offline_access"]),
      "read offline_access",
    ],
    [
      "offline_access alone at an OpenID provider",
      { challenge: undefined },
      discoveryOf(undefined, ["openid", "offline_access"]),
      "offline_access",
    ],
    ["no offline_access alone elsewhere", { challenge: undefined }, discoveryOf(undefined, ["offline_access"]), ""],
    [
      "no offline_access where only the server lists it",
      { challenge: challengeOf("read") },
      discoveryOf(["offline_access"], ["read"]),
      "read",
    ],
    [
      "no offline_access where it was refused",
      { challenge: challengeOf("read offline_access"), offlineAccess: false },
      discoveryOf(undefined, ["read", "offline_access"]),
      "read",
    ],
  ])("%s", (_, options, discovery, scopes) => {
    expect(chooseScopes({ ...options, discovery }).join(" ")).toBe(scopes);
  });
});
