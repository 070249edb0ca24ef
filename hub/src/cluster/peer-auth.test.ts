import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { digestOf, signClaims, verifyClaims, type PeerClaims } from "./peer-auth.ts";

const key = randomBytes(32);
const NOW = 1_700_000_000_000;

const claims: PeerClaims = {
  to: "two",
  at: NOW,
  method: "POST",
  session: "two-1",
  endpoint: { edge: "groups", group: "default", readOnly: false },
  requester: { principal: "user:ü", owner: "user:ü" },
  digest: digestOf(Buffer.from("{}")),
};

describe("SC-3 what hubs say to each other", () => {
  it("is read by the hub that is meant, while it is fresh", () => {
    expect(verifyClaims(key, signClaims(key, claims), "two", NOW + 29_000)).toEqual(claims);
    expect(verifyClaims(key, signClaims(key, claims), "two", NOW - 29_000)).toEqual(claims);
  });

  const other = signClaims(key, { ...claims, session: "two-2" });
  const refused: readonly [what: string, header: unknown, to?: string, now?: number][] = [
    ["no header", undefined],
    ["an empty header", ""],
    ["a header without signature", signClaims(key, claims).split(".")[0]],
    ["more than one signature", `${signClaims(key, claims)}.x`],
    ["the signature of other claims", `${signClaims(key, claims).split(".")[0]}.${other.split(".")[1]}`],
    ["another key", signClaims(randomBytes(32), claims)],
    ["another hub", signClaims(key, claims), "three"],
    ["a text that is too old", signClaims(key, claims), "two", NOW + 31_000],
    ["a text of the future", signClaims(key, claims), "two", NOW - 31_000],
  ];
  it.each(refused)("refuses %s", (_, header, to = "two", now = NOW) => {
    expect(verifyClaims(key, header, to, now)).toBeUndefined();
  });
});
