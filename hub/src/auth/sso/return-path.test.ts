// Which wishes of a link lead a browser somewhere after its sign-in.

import { describe, expect, it } from "vitest";
import { returnPath } from "./return-path.ts";

const OWN = [
  "/",
  "/ui/",
  "/ui/servers/git?tab=log",
  "/ui/calls?since=1h&q=a%20b%2Fc",
  "/connect/linear",
  "/oauth/authorize?client_id=https%3A%2F%2Fapp.example%2Fclient.json&state=x",
  "/ui/try/git/read~file_(1)",
];

const ELSEWHERE = [
  // Without a path of the hub.
  "",
  " ",
  "ui",
  "ui/servers",
  "./ui",
  "../ui",
  "?x",
  "#x",
  "ui:1",
  "\u0000",
  // Another host, as browsers read it.

  "//evil.example",
  "///evil.example",
  "////evil.example",
  "//evil.example/ui",
  "/\\evil.example",
  "\\\\evil.example",

  "\\/evil.example",
  "/\\/evil.example",
  "/\t/evil.example",
  "/\n/evil.example",
  "/\r/evil.example",
  "\t//evil.example",
  " //evil.example",
  "/ui//evil.example",
  "/ui/..//evil.example",
  "/.//evil.example",
  "/./evil",
  "/ui/../../x",
  // Another scheme.

  "https://evil.example",
  "http://evil.example/ui/",
  "https:evil.example",
  "https:/evil.example",
  "HTTPS://evil.example",
  "javascript:alert(1)",
  "/javascript:alert(1)",
  "data:text/html,x",
  "vbscript:x",
  "file:///etc/passwd",
  "blob:x",
  // The hub's own host in a disguise.
  "http://127.0.0.1:7430.evil.example/",
  "//127.0.0.1:7430@evil.example",
  "http://127.0.0.1:7430@evil.example/ui",
  "//localhost.evil.example",
  "//127.0.0.1.evil.example",
  "/@evil.example",
  "/ui@evil.example",
  "/ui:80/x",
  "https://hub.example:443@evil.example",
  "https://hub.example:7430/",
  "http://127.0.0.1:7430/ui/",
  // Encoded, for what decodes it on the way.

  "/%2f%2fevil.example",
  "/%2F/evil.example",
  "/%5cevil.example",
  "/%5C%5Cevil.example",
  "/ui/%2e%2e/x",
  "/ui/%2E%2E/x",
  "/%09/evil.example",
  "/%0a/evil.example",
  "/%0d%0aset-cookie:x",
  "/ui/%00",
  "/%252f%252fevil.example",
  "/%7f",
  // Text that is not of an address.

  "/ui/ x",
  '/ui/"x"\u00e9',
  "/ui/\u2028",
  "/\u202eui",
  "/\uff0f\uff0fevil.example",
  "/ui/#k=stolen",
  "/ui/<script>",
  `/${"x".repeat(2048)}`,
];

describe("A06 where the browser goes after a sign-in", () => {
  it.each(OWN)("%s is a path of the hub", (wanted) => expect(returnPath(wanted)).toBe(wanted));

  it("has at least 60 variants of the others", () => expect(ELSEWHERE.length).toBeGreaterThanOrEqual(60));

  it.each(ELSEWHERE.map((wanted) => [wanted]))("%j is not", (wanted) => expect(returnPath(wanted)).toBeUndefined());

  it("nothing is wanted", () => expect(returnPath(undefined)).toBeUndefined());
});
