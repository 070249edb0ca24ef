import fc from "fast-check";
import { expect, it } from "vitest";
import type { StoredEnd, StoredStart } from "../calls/stored-call.ts";
import { decode, encodeBegin, encodeEnd } from "./journal-record.ts";

const text = fc.string({ unit: "binary", maxLength: 40 });
const maybeText = fc.option(text);
const payload = fc.option(fc.uint8Array({ maxLength: 300 }));
const starts: fc.Arbitrary<StoredStart> = fc.record({
  at: fc.integer(),
  server: text,
  tool: text,
  group: text,
  client: maybeText,
  workflowId: maybeText,
  params: payload,
  truncated: fc.boolean(),
});
const ends: fc.Arbitrary<StoredEnd> = fc.record({
  result: payload,
  success: fc.boolean(),
  durationUs: fc.nat(),
  errorCode: maybeText,
  truncated: fc.boolean(),
});

/** Names with halves of surrogate pairs cannot be written as UTF-8. */
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, part) => (typeof part === "string" ? Buffer.from(part).toString() : part));
const bytesOf = (value: Uint8Array | null) => value && [...value];

it("RS-4 a record comes back as it was written, and the next one begins after it", () => {
  fc.assert(
    fc.property(fc.nat(), starts, ends, (id, start, end) => {
      const bytes = Buffer.concat([encodeBegin(id, start), encodeEnd(id, end)]);
      const first = decode(bytes, 0);
      if (first.state !== "record" || first.record.kind !== "begin") throw new Error(first.state);
      const { params, ...names } = start;
      const { params: read, ...readNames } = first.record.start;
      expect([first.record.id, plain(readNames), bytesOf(read)]).toEqual([id, plain(names), bytesOf(params)]);
      const second = decode(bytes, first.next);
      if (second.state !== "record" || second.record.kind !== "end") throw new Error(second.state);
      const { result, ...how } = end;
      const { result: readResult, ...readHow } = second.record.end;
      expect([plain(readHow), bytesOf(readResult), second.next]).toEqual([plain(how), bytesOf(result), bytes.length]);
    }),
  );
});

it("F41 a record that was cut off anywhere is not taken for one", () => {
  fc.assert(
    fc.property(starts, fc.nat(), (start, cut) => {
      const whole = encodeBegin(1, start);
      expect(decode(whole.subarray(0, cut % whole.length), 0).state).toBe("short");
    }),
  );
});

it("F36 a record with a changed byte is not taken for one", () => {
  fc.assert(
    fc.property(ends, fc.nat(), fc.integer({ min: 1, max: 255 }), (end, at, change) => {
      const bytes = encodeEnd(1, end);
      const index = at % bytes.length;
      bytes[index] = (bytes[index] ?? 0) ^ change;
      expect(decode(bytes, 0).state).not.toBe("record");
    }),
  );
});
