// Server-sent events: the parser on valid and hostile streams in any chunks, and the writer with the parser.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SSE_KEEP_ALIVE, sseEvent, sseEvents, SseOverflow, SseParser } from "./sse.ts";

interface Seen {
  readonly events: { event: string; data: string; id?: string }[];
  readonly retries: number[];
  readonly overflows: number;
}

function parse(chunks: readonly (string | Buffer)[], maxBytes = 1 << 20): Seen {
  const events: Seen["events"] = [];
  const retries: number[] = [];
  let overflows = 0;
  const parser = new SseParser({
    maxBytes,
    onEvent: ({ event, data, id }) =>
      events.push({ event, data: data.toString(), ...(id === undefined ? {} : { id }) }),
    onRetry: (ms) => retries.push(ms),
    onOverflow: () => overflows++,
  });
  for (const chunk of chunks) parser.push(Buffer.from(chunk));
  return { events, retries, overflows };
}

const dataOf = (...chunks: string[]) => parse(chunks).events.map(({ data }) => data);

describe("SseParser", () => {
  it.each([
    ["one event", "data: a\n\n", ["a"]],
    ["two events", "data: a\n\ndata: b\n\n", ["a", "b"]],
    ["no blank after the colon", "data:a\n\n", ["a"]],
    ["only one blank is taken off", "data:  a\n\n", [" a"]],
    ["CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]],
    ["lone returns", "data: a\r\rdata: b\rdata: c\r\r", ["a", "b\nc"]],
    ["all line ends mixed", "data: a\r\n\ndata: b\n\r\ndata: c\r\ndata: d\r\r\n", ["a", "b", "c\nd"]],
    ["a byte order mark", "\ufeffdata: a\n\n", ["a"]],
    ["a byte order mark only at the beginning", "\ufeff\ufeffdata: a\n\n\ufeffdata: b\n\ndata: c\n\n", ["c"]],
    ["several data lines", "data: a\ndata: b\ndata:\ndata: c\n\n", ["a\nb\n\nc"]],
    ["a colon in the value", 'data: {"a":1}\n\n', ['{"a":1}']],
    ["comments only", ": keep-alive\n\n:\n\n: x\n\n", []],
    ["a comment inside an event", "data: a\n: ping\ndata: b\n\n", ["a\nb"]],
    ["a field without a colon", "data\n\n", []],
    ["an event without data (a priming event)", "id: 1\ndata:\n\ndata: a\n\n", ["a"]],
    ["an unknown field", "colour: red\ndata: a\n\n", ["a"]],
    ["a field with another case", "Data: a\n\n", []],
    ["blank lines first", "\n\n\ndata: a\n\n", ["a"]],
    ["no blank line at the end", "data: a\n\ndata: b\n", ["a"]],
    ["no newline at the end", "data: a\n\ndata: b", ["a"]],
    ["multi-byte", "data: äöü € \u{1f600}\n\n", ["äöü € \u{1f600}"]],
  ])("F26 %s", (_, text, expected) => {
    expect(dataOf(text)).toEqual(expected);
  });

  it("F26 the event type applies to one event, the id to all later ones", () => {
    expect(parse(["event: endpoint\nid: 7\ndata: a\n\ndata: b\n\nid: 8\ndata: c\n\n"]).events).toEqual([
      { event: "endpoint", data: "a", id: "7" },
      { event: "message", data: "b", id: "7" },
      { event: "message", data: "c", id: "8" },
    ]);
    expect(parse(["id: 7\nid: 8\0\nevent:\ndata: a\n\n"]).events).toEqual([{ event: "message", data: "a", id: "7" }]);
  });

  it.each([
    ["retry: 3000\n\n", [3000]],
    ["retry:0\n\n", [0]],
    ["retry: -1\n\n", []],
    ["retry: 1e3\n\n", []],
    ["retry: soon\n\n", []],
    ["retry: 99999999999999999999\n\n", []],
    ["retry:\n\n", []],
  ])("F26 the retry delay of %j is %j", (text, expected) => {
    expect(parse([text]).retries).toEqual(expected);
  });

  it("F26 the events are the same for any split of the stream", () => {
    const line = fc.oneof(
      fc.constantFrom("", "", "data:", "data: ä€\u{1f600}", ": comment", "event: x", "id: 1", "retry: 10", "junk"),
      fc.string({ unit: fc.constantFrom("d", "a", "t", ":", " ", "\r", "é"), maxLength: 6 }),
    );
    const stream = fc
      .array(fc.tuple(line, fc.constantFrom("\n", "\r\n", "\r")), { maxLength: 20 })
      .map((lines) => Buffer.from(lines.flat().join("")));
    fc.assert(
      fc.property(stream, fc.array(fc.nat(200), { maxLength: 8 }), (bytes, cuts) => {
        const points = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length].toSorted((a, b) => a - b);
        const chunks = points.slice(1).map((point, index) => bytes.subarray(points[index], point));
        expect(parse(chunks)).toEqual(parse([bytes]));
        expect(parse([...bytes].map((byte) => Buffer.from([byte])))).toEqual(parse([bytes]));
      }),
      { numRuns: 500 },
    );
  });

  it("F26 a keep-alive of 64 KB is an ordinary comment", () => {
    expect(dataOf(`:${"x".repeat(65_536)}\n\n`, "data: a\n\n")).toEqual(["a"]);
  });

  it.each([
    ["one line", (size: number) => `data: ${"x".repeat(size)}\n`],
    ["many lines", (size: number) => "data: xxxxxxxxx\n".repeat(size / 10)],
    ["many lines without any data", (size: number) => "data:\n".repeat(size)],
  ])("F26 an event beyond the limit is reported once, and nothing of it or after it is emitted: %s", (_, lines) => {
    const maxBytes = 1000;
    const huge = parse([`data: first\n\n${lines(2000)}`, "\n", lines(2000), "\ndata: after\n\n"], maxBytes);
    expect(huge.events.map(({ data }) => data)).toEqual(["first"]);
    expect(huge.overflows).toBe(1);
  });

  it.each([
    ["one line", "data: 123456\n\n", 12],
    ["lines and the newlines between them", "data: 12\ndata: 56\ndata: 89\n\n", 8],
  ])("F26 an event of exactly the limit is accepted, one byte more is not: %s", (_, text, maxBytes) => {
    expect(parse([text.repeat(50)], maxBytes)).toMatchObject({ events: { length: 50 }, overflows: 0 });
    expect(parse([text.repeat(50)], maxBytes - 1)).toMatchObject({ events: [], overflows: 1 });
  });

  it("F26 an event may have a million lines, and not one more", () => {
    const lines = (count: number) => "data\n".repeat(count);
    expect(parse([lines(1_000_000), "data: x\n"], 1 << 24)).toMatchObject({ overflows: 1 });
    expect(parse([lines(999_999), "data: x\n\n"], 1 << 24)).toMatchObject({ events: { length: 1 }, overflows: 0 });
  });

  /** The minimum of several runs: other load makes runs slower, never faster. */
  const quickest = (work: () => void) =>
    Math.min(
      ...Array.from({ length: 5 }, () => {
        const startedAt = performance.now();
        work();
        return performance.now() - startedAt;
      }),
    );

  const parseInChunks = (bytes: Buffer) => {
    const parser = new SseParser({ maxBytes: 1 << 26, onEvent: () => undefined, onOverflow: () => undefined });
    for (let at = 0; at < bytes.length; at += 65_536) parser.push(bytes.subarray(at, at + 65_536));
  };

  it.each(["data:\n", "data: x\n", "data: x\r\n", 'data: {"key": "value"},\n'])(
    "F26 SE-5 the time for a million lines is linear in the bytes: %j",
    (line) => {
      const few = Buffer.from(`${line.repeat(100_000)}\n`);
      const many = Buffer.from(`${line.repeat(1_000_000)}\n`);
      let newlines = 0;
      const onePass = () => {
        newlines = 0;
        for (let at = 0; at < many.length; at++) if (many[at] === 0x0a) newlines++;
      };
      // Other load on the machine affects some sets, so the best of several counts.
      let [perByte, perLine] = [Infinity, Infinity];
      for (let set = 0; set < 5 && (perByte >= 30 || perLine >= 60); set++) {
        const took = quickest(() => parseInChunks(many));
        perByte = Math.min(perByte, took / quickest(onePass));
        perLine = Math.min(perLine, took / quickest(() => parseInChunks(few)));
      }
      expect(newlines).toBe(1_000_001);
      // With a buffer per line it took more than forty times as long as one pass over the bytes.
      expect(perByte).toBeLessThan(30);
      expect(perLine).toBeLessThan(60);
    },
  );

  it("F26 never throws on any bytes", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (chunks) => {
        expect(
          parse(
            chunks.map((chunk) => Buffer.from(chunk)),
            50,
          ).overflows,
        ).toBeLessThanOrEqual(1);
      }),
    );
  });
});

describe("the writer", () => {
  it("F26 written events are parsed back, except keep-alives", () => {
    fc.assert(
      fc.property(fc.array(fc.json({ maxDepth: 3 })), (messages) => {
        const stream = messages.map((message) => sseEvent(Buffer.from(message)).toString()).join(SSE_KEEP_ALIVE);
        expect(dataOf(stream)).toEqual(messages);
      }),
    );
  });
});

describe("sseEvents", () => {
  async function* bodyOf(...chunks: string[]) {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }

  it("returns the events of each chunk together, and an empty list for a chunk without one", async () => {
    const batches: string[][] = [];
    for await (const events of sseEvents(bodyOf("data: a\n\ndata: b\n\ndata: ", ":\n", "\n"), { maxBytes: 10 })) {
      batches.push(events.map(({ data }) => data.toString()));
    }
    expect(batches).toEqual([["a", "b"], [], [":"]]);
  });

  it("F26 rejects an event that is too large", async () => {
    const read = async () => {
      for await (const events of sseEvents(bodyOf("data: ", "x".repeat(20)), { maxBytes: 10 }))
        expect(events).toEqual([]);
    };
    await expect(read()).rejects.toThrow(SseOverflow);
  });
});
