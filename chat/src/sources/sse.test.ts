import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SseParser } from "./sse.ts";

const parse = (...chunks: string[]) => {
  const parser = new SseParser();
  return chunks.flatMap((chunk) => parser.push(chunk));
};

describe("server-sent events", () => {
  it("reads fields, comments, several data lines and ids that stay", () => {
    expect(parse("id:7\nevent: receive\ndata: a\ndata:b\n\n:\n\ndata\n\n")).toEqual([
      { event: "receive", data: "a\nb", id: "7" },
      { event: "message", data: "", id: "7" },
    ]);
  });

  it("gives nothing for an event without data or without an end", () => {
    expect(parse("event: receive\n\ndata: unfinished\n")).toEqual([]);
  });

  it("is the same wherever the bytes are cut, whatever ends the lines", () => {
    const text = "id: 1\ndata: ä1\ndata: 2\n\n: comment\nevent: e\ndata: 3\n\n";
    const whole = parse(text);
    fc.assert(
      fc.property(
        fc.constantFrom("\n", "\r", "\r\n"),
        fc.array(fc.nat(text.length * 2), { maxLength: 6 }),
        (end, cuts) => {
          const written = text.replaceAll("\n", end);
          const places = [0, ...cuts.toSorted((a, b) => a - b), written.length];
          const chunks = places.slice(1).map((place, index) => written.slice(places[index], place));
          // A lone return may yet be the first half of a line end: it counts when more comes.
          expect(parse(...chunks)).toEqual(whole);
        },
      ),
    );
  });
});
