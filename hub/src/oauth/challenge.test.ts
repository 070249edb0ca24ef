import { describe, expect, it } from "vitest";
import { parseChallenge } from "./challenge.ts";
import type { Challenge } from "./types.ts";

const PRM = "https://mcp.example.com/.well-known/oauth-protected-resource";

const ROWS: readonly (readonly [name: string, header: string | string[] | undefined, found: Challenge | undefined])[] =
  [
    ["no header", undefined, undefined],
    ["an empty header", "", undefined],
    ["a scheme alone", "Bearer", { scheme: "Bearer" }],
    ["a scheme in other letters", "bEARER scope=a", { scheme: "Bearer", scope: "a" }],
    [
      "all parameters",
      `Bearer realm="x", error="invalid_token", error_description="gone", resource_metadata="${PRM}", scope="a b"`,
      { scheme: "Bearer", error: "invalid_token", errorDescription: "gone", resourceMetadata: PRM, scope: "a b" },
    ],
    ["another scheme first", `Basic realm="x", Bearer scope="a"`, { scheme: "Bearer", scope: "a" }],
    ["a scheme with a token68 first", `Negotiate YWJj==, Bearer scope="a"`, { scheme: "Bearer", scope: "a" }],
    ["a scheme without parameters first", `Negotiate, Bearer scope="a"`, { scheme: "Bearer", scope: "a" }],
    ["another scheme last", `Bearer scope="a", Basic realm="scope=b"`, { scheme: "Bearer", scope: "a" }],
    ["its scheme as text of another", `Basic realm="Bearer scope=a"`, undefined],
    [
      "a parameter as text of another",
      `Bearer error_description="need scope=admin now"`,
      {
        scheme: "Bearer",
        errorDescription: "need scope=admin now",
      },
    ],
    ["quoted pairs", String.raw`Bearer scope="a\"b\\c"`, { scheme: "Bearer", scope: String.raw`a"b\c` }],
    [
      "commas in quotes",
      `Bearer scope="a, Basic realm=x", error=e`,
      {
        scheme: "Bearer",
        scope: "a, Basic realm=x",
        error: "e",
      },
    ],
    ["blanks around =", `Bearer scope = "a" , error =e`, { scheme: "Bearer", scope: "a", error: "e" }],
    ["empty list elements", `, ,Bearer ,scope="a",,error=e,`, { scheme: "Bearer", scope: "a", error: "e" }],
    ["no comma between parameters", `Bearer scope="a" error=e`, { scheme: "Bearer", scope: "a", error: "e" }],
    [
      "an unquoted address",
      `Bearer resource_metadata=${PRM}, scope=a`,
      {
        scheme: "Bearer",
        resourceMetadata: PRM,
        scope: "a",
      },
    ],
    ["a parameter twice", `Bearer scope="a", scope="b"`, { scheme: "Bearer", scope: "a" }],
    ["parameter names in other letters", `Bearer Scope="a"`, { scheme: "Bearer", scope: "a" }],
    ["an empty value", `Bearer scope=""`, { scheme: "Bearer", scope: "" }],
    ["a quote that is not closed", `Bearer error=e, scope="a b`, { scheme: "Bearer", error: "e" }],
    ["rubbish after it", `Bearer scope="a", (what`, { scheme: "Bearer", scope: "a" }],
    ["rubbish before it", `(what, Bearer scope="a"`, undefined],
    ["DPoP before Bearer", `Bearer scope="a", DPoP algs="ES256", scope="b"`, { scheme: "DPoP", scope: "b" }],
    ["the first of two of a kind", `Bearer scope="a", Bearer scope="b"`, { scheme: "Bearer", scope: "a" }],
    ["several lines", [`Basic realm="x"`, `Bearer scope="a"`], { scheme: "Bearer", scope: "a" }],
    ["lines of which one is broken", [`Basic realm="x`, `Bearer scope="a"`], { scheme: "Bearer", scope: "a" }],
    [
      "a description with control characters",
      `Bearer error_description="a\tb\u0007"`,
      {
        scheme: "Bearer",
        errorDescription: "a b\\u0007",
      },
    ],
  ];

describe("AU-1 WWW-Authenticate is read by its grammar", () => {
  it.each(ROWS)("%s", (_name, header, found) => expect(parseChallenge(header)).toEqual(found));

  it("T18 takes no time for headers as long as Node accepts them", () => {
    for (const part of ["Bearer ", "a=b,", 'a="', "\\", "a=", ",", " ", "Bearer a "]) {
      const begun = performance.now();
      parseChallenge(part.repeat(16_384 / part.length));
      expect(performance.now() - begun).toBeLessThan(1000);
    }
  });
});
