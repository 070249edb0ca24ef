// Which heads the fast path parses, and which it hands over to Node.

import { describe, expect, it } from "vitest";
import { HeadCache, readRequestHead } from "./request-head.ts";

const PLAIN = ["Host: localhost:7430", "Content-Type: application/json", "Content-Length: 12"];
const head = (fields: readonly string[], line = "POST /mcp HTTP/1.1") => [line, ...fields].join("\r\n");

describe("the head of an ordinary POST", () => {
  it("GR-7 is parsed: path, names in lower case, values without surrounding blanks", () => {
    const text = head(
      [...PLAIN, "Mcp-Session-Id: \t a b \t", "X-Empty:", "connection: Keep-Alive"],
      "POST /mcp/work_1-a HTTP/1.1",
    );
    expect(readRequestHead(text)).toEqual({
      url: "/mcp/work_1-a",
      bodyBytes: 12,
      headers: {
        host: "localhost:7430",
        "content-type": "application/json",
        "content-length": "12",
        "mcp-session-id": "a b",
        "x-empty": "",
        connection: "Keep-Alive",
      },
    });
  });

  it("T01 a header named like a property of Object is an ordinary header", () => {
    const { headers } = readRequestHead(head([...PLAIN, "constructor: x"])) ?? { headers: {} };
    expect([headers["constructor"], headers["hasOwnProperty"]]).toEqual(["x", undefined]);
  });

  it.each([
    ["another method", head(PLAIN, "GET /mcp HTTP/1.1")],
    ["another version", head(PLAIN, "POST /mcp HTTP/1.0")],
    ["a path with a query", head(PLAIN, "POST /mcp?x HTTP/1.1")],
    ["a path with an escape", head(PLAIN, "POST /mcp/%41 HTTP/1.1")],
    ["the path of the admin endpoint", head(PLAIN, "POST /mcp/@admin HTTP/1.1")],
    ["a whole address", head(PLAIN, "POST http://localhost/mcp HTTP/1.1")],
    ["two blanks in the first line", head(PLAIN, "POST  /mcp HTTP/1.1")],
    ["a blank before the first line", head(PLAIN, " POST /mcp HTTP/1.1")],
    ["no Host", head(PLAIN.slice(1))],
    ["an empty Host", head(["Host: ", ...PLAIN.slice(1)])],
    ["two Hosts", head([...PLAIN, "host: localhost"])],
    ["no length", head(PLAIN.slice(0, 2))],
    ["a length with a sign", head([...PLAIN.slice(0, 2), "Content-Length: +12"])],
    ["a length with a fraction", head([...PLAIN.slice(0, 2), "Content-Length: 12.0"])],
    ["two lengths in one", head([...PLAIN.slice(0, 2), "Content-Length: 12, 12"])],
    ["two lengths", head([...PLAIN, "content-length: 12"])],
    ["chunks", head([...PLAIN, "Transfer-Encoding: chunked"])],
    ["a body that waits to be asked for", head([...PLAIN, "Expect: 100-continue"])],
    ["another protocol", head([...PLAIN, "Upgrade: h2c"])],
    ["a connection that ends", head([...PLAIN, "Connection: close"])],
    ["a connection that is more than kept", head([...PLAIN, "Connection: keep-alive, X"])],
    ["a folded line", head([...PLAIN, "X: a", " b"])],
    ["a blank before the colon", head([...PLAIN, "X : a"])],
    ["no colon", head([...PLAIN, "X"])],
    ["no name", head([...PLAIN, ": a"])],
    ["a bare line feed", head([...PLAIN, "X: a\nTransfer-Encoding: chunked"])],
    ["a bare return", head([...PLAIN, "X: a\rTransfer-Encoding: chunked"])],
    ["a NUL", head([...PLAIN, "X: a\0"])],
    ["letters beyond ASCII", head([...PLAIN, "X: \u00e4"])],
    ["nothing", ""],
  ])("GR-7 %s is left to Node", (_, text) => {
    expect(readRequestHead(text)).toBeUndefined();
  });
});

describe("cached heads", () => {
  const lengthOf = (heads: HeadCache, bytes: number) =>
    heads.read(head([...PLAIN.slice(0, 2), `Content-Length: ${bytes}`]))?.bodyBytes;

  it("GR-7 give the same result as the first time", () => {
    const heads = new HeadCache();
    for (const bytes of [1, 2, 1, 2]) expect(lengthOf(heads, bytes)).toBe(bytes);
    expect(heads.read(head(PLAIN))).toBe(heads.read(head(PLAIN)));
    expect(heads.read("")).toBeUndefined();
  });

  it("T22 are bounded in number and size", () => {
    const heads = new HeadCache();
    const first = heads.read(head(PLAIN));
    for (let bytes = 0; bytes < 1000; bytes++) expect(lengthOf(heads, bytes)).toBe(bytes);
    expect(heads.read(head(PLAIN))).not.toBe(first);
    const long = head([...PLAIN, `X: ${"x".repeat(2000)}`]);
    expect(heads.read(long)).toEqual(heads.read(long));
    expect(heads.read(long)).not.toBe(heads.read(long));
  });
});
