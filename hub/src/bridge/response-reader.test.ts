import { describe, expect, it } from "vitest";
import { ResponseReader, type Headers } from "./response-reader.ts";

interface Read {
  readonly status: number;
  readonly headers: Headers;
  body: string;
  reusable?: boolean;
}

/** What is read from these pieces. */
function read(pieces: readonly Buffer[], { close = false } = {}): Read[] {
  const found: Read[] = [];
  const reader = new ResponseReader({
    onHead: (status, headers) => void found.push({ status, headers: { ...headers }, body: "" }),
    onBody: (chunk) => {
      const last = found.at(-1);
      if (last !== undefined) last.body += chunk.toString();
    },
    onEnd: (reusable) => {
      const last = found.at(-1);
      if (last !== undefined) last.reusable = reusable;
    },
  });
  for (const piece of pieces) reader.push(piece);
  if (close) reader.close();
  return found;
}

const lines = (...texts: string[]) => Buffer.from(texts.join("\r\n"));

/** The size of a chunk of one byte, in a line of so many. */
const sized = (length: number) => `1;${"x".repeat(length - 2)}`;

const RESPONSES: readonly [name: string, bytes: Buffer, expected: Partial<Read>][] = [
  [
    "a length",
    lines("HTTP/1.1 200 OK", "Content-Length: 5", "", "hello"),
    { status: 200, body: "hello", reusable: true },
  ],
  [
    "chunks, with extensions and trailers",
    lines("HTTP/1.1 200 OK", "transfer-encoding: Chunked", "", "3;x=y", "hel", "2 ", "lo", "0", "Trailer: t", "", ""),
    { body: "hello", reusable: true },
  ],
  ["no body", lines("HTTP/1.1 204 No Content", "", ""), { status: 204, body: "", reusable: true }],
  ["an empty body", lines("HTTP/1.1 202 Accepted", "content-length: 0", "", ""), { status: 202, reusable: true }],
  [
    "a close",
    lines("HTTP/1.1 200 OK", "connection: Close", "content-length: 1", "", "x"),
    { body: "x", reusable: false },
  ],
  ["HTTP/1.0", lines("HTTP/1.0 200 OK", "content-length: 1", "", "x"), { body: "x", reusable: false }],
  [
    "something before the response",
    lines("HTTP/1.1 103 Early Hints", "link: x", "", "HTTP/1.1 200 OK", "content-length: 1", "", "x"),
    { status: 200, body: "x" },
  ],
  [
    "a header twice, and blanks",
    lines("HTTP/1.1 200", "A:  1 ", "a:2", "content-length: 0", "", ""),
    { headers: { a: "1, 2", "content-length": "0" } },
  ],
];

describe("a response", () => {
  it.each(RESPONSES)("with %s is the same however it is cut", (_, bytes, expected) => {
    for (let at = 0; at <= bytes.length; at++) {
      const found = read([bytes.subarray(0, at), bytes.subarray(at)]);
      expect(found).toHaveLength(1);
      expect(found[0]).toMatchObject(expected);
    }
    expect(read([...bytes].map((byte) => Buffer.from([byte])))[0]).toMatchObject(expected);
  });

  it("without a length ends with the connection", () => {
    const bytes = lines("HTTP/1.1 200 OK", "", "to the end");
    expect(read([bytes])[0]).not.toHaveProperty("reusable");
    expect(read([bytes], { close: true })[0]).toMatchObject({ body: "to the end", reusable: false });
  });

  it.each([
    [
      "line",
      4096,
      (length: number) => lines("HTTP/1.1 200 OK", "transfer-encoding: chunked", "", sized(length), "x", "0", "", ""),
    ],
    ["head", 65_536, (length: number) => lines(`HTTP/1.1 200 ${"x".repeat(length - 32)}`, "content-length: 0", "", "")],
  ])("has a bound for a %s, the same wherever it is cut", (_, longest, make) => {
    for (const [length, isRead] of [
      [longest, true],
      [longest + 1, false],
    ] as const) {
      const bytes = make(length);
      for (const at of [0, ...Array.from({ length: 80 }, (_unused, back) => bytes.length - 1 - back)]) {
        const pieces = [bytes.subarray(0, at), bytes.subarray(at)];
        if (isRead) expect(read(pieces)[0]).toHaveProperty("reusable", true);
        else expect(() => read(pieces)).toThrow("not valid HTTP");
      }
    }
  });

  it("that more came with is the last on its connection", () => {
    const one = lines("HTTP/1.1 200 OK", "content-length: 1", "", "x");
    for (const more of ["HTTP/1.1 200 OK", "\0"])
      expect(read([Buffer.concat([one, Buffer.from(more)])])[0]).toMatchObject({ body: "x", reusable: false });
  });

  it("that is cut off does not end", () => {
    const cut = lines("HTTP/1.1 200 OK", "content-length: 5", "", "hell");
    expect(read([cut], { close: true })[0]).not.toHaveProperty("reusable");
  });

  it("is followed by the next one", () => {
    const all = Buffer.concat(RESPONSES.map(([, bytes]) => bytes));
    expect(read([all]).map(({ body }) => body)).toEqual(RESPONSES.map(([, , { body = "" }]) => body));
  });

  it.each([
    ["another protocol", lines("SSH-2.0-x", "", "")],
    ["two lengths", lines("HTTP/1.1 200 OK", "content-length: 1", "content-length: 2", "", "x")],
    ["a length and chunks", lines("HTTP/1.1 200 OK", "content-length: 1", "transfer-encoding: chunked", "", "x")],
    ["a length that is none", lines("HTTP/1.1 200 OK", "content-length: -1", "", "x")],
    ["a coding that we do not know", lines("HTTP/1.1 200 OK", "transfer-encoding: gzip, chunked", "", "x")],
    ["a size that is none", lines("HTTP/1.1 200 OK", "transfer-encoding: chunked", "", "0x1", "x", "")],
    ["a chunk that is longer than it says", lines("HTTP/1.1 200 OK", "transfer-encoding: chunked", "", "1", "xy", "")],
    ["a header that is none", lines("HTTP/1.1 200 OK", "no colon", "", "")],
    ["a header that is folded", lines("HTTP/1.1 200 OK", "a: b", " c: d", "", "")],
    ["half an end of a line in a header", lines("HTTP/1.1 200 OK", "a: b\ncontent-length: 0", "", "")],
    ["the other half", lines("HTTP/1.1 200 OK", "a: b\rcontent-length: 0", "", "")],
    ["a NUL in a header", lines("HTTP/1.1 200 OK", "a: \0", "", "")],
    ["another blank around its length", Buffer.from("HTTP/1.1 200 OK\r\ncontent-length:\xa01\r\n\r\nx", "latin1")],
    ["another protocol from here on", lines("HTTP/1.1 101 Switching Protocols", "", "")],
    ["a head without an end", Buffer.from(`HTTP/1.1 200 OK\r\na: ${"x".repeat(70_000)}`)],
  ])("with %s is none", (_, bytes) => {
    expect(() => read([bytes])).toThrow("not valid HTTP");
  });
});
