// The shapes of credentials.

import { describe, expect, it } from "vitest";
import { makeAccessToken } from "./access-token.ts";
import { credentialIn } from "./credential.ts";

describe("AU-4 the shape of a credential decides who checks it", () => {
  it.each([
    [`Bearer pb_${"a".repeat(43)}`, "management"],
    [`bearer ${makeAccessToken()}`, "access-token"],
    ["Bearer pbt_mistyped", "access-token"],
    [`Bearer ${makeAccessToken("pbo_")}`, "access-token"],
    [`Bearer ${makeAccessToken("pbr_")}`, "access-token"],
    ["Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln", "jwt"],
    ["DPoP eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln", "jwt"],
    // Without a signature, encrypted, or in another encoding: no JWT that could be checked.
    ["Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.", "opaque"],
    ["Bearer a.b.c.d.e", "opaque"],
    ["Bearer a+.b=.c/", "opaque"],
    ["Bearer gho_16C7e42F292c6912E7710c838347Ae178B4a", "opaque"],
    ["Bearer pb", "opaque"],
  ])("%s is %s", (authorization, shape) => {
    expect(credentialIn(authorization)?.shape).toBe(shape);
  });

  it.each([undefined, "", "Bearer", "Bearer ", "Basic YTpi", "Bearer a b", "a.b.c", "Bearer a, Bearer b"])(
    "%s is none",
    (authorization) => {
      expect(credentialIn(authorization)).toBeUndefined();
    },
  );
});
