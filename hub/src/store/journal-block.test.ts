import { crc32 } from "node:zlib";
import fc from "fast-check";
import { expect, it } from "vitest";
import { OUTCOMES } from "../calls/outcome.ts";
import type { Route, StoredEnd, StoredOpening } from "../calls/stored-call.ts";
import { BlockWriter, findBlock, readBlock } from "./journal-block.ts";

const text = fc.string({ unit: "binary", maxLength: 40 });
const maybeText = fc.option(text);
const payload = fc.option(fc.uint8Array({ maxLength: 300 }));
const id = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const routes: fc.Arbitrary<Route> = fc.record({ server: text, tool: text, group: text, client: maybeText });
const starts: fc.Arbitrary<StoredOpening> = fc.record({
  at: fc.integer(),
  workflowId: maybeText,
  params: payload,
  truncated: fc.boolean(),
});
const ends: fc.Arbitrary<StoredEnd> = fc.record({
  result: payload,
  outcome: fc.constantFrom(...OUTCOMES),
  durationUs: fc.nat(),
  errorCode: maybeText,
  truncated: fc.boolean(),
});
const records = fc.oneof(
  fc.tuple(fc.constant("route" as const), id, routes),
  fc.tuple(fc.constant("begin" as const), id, id, starts),
  fc.tuple(fc.constant("end" as const), id, ends),
);
type Record = typeof records extends fc.Arbitrary<infer R> ? R : never;

function write(block: BlockWriter, record: Record): void {
  if (record[0] === "route") block.route(record[1], record[2]);
  else if (record[0] === "begin") block.begin(record[1], record[2], record[3]);
  else block.end(record[1], record[2]);
}

function read(bytes: Buffer, found: { from: number; next: number }): unknown[] {
  const seen: unknown[] = [];
  readBlock(bytes, found, {
    onRoute: (...record) => seen.push(["route", ...record]),
    onBegin: (...record) => seen.push(["begin", ...record]),
    onEnd: (...record) => seen.push(["end", ...record]),
  });
  return seen;
}

/** Names with halves of surrogate pairs cannot be written as UTF-8; bytes are bytes, of whatever class. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, part: unknown) => (part instanceof Uint8Array ? [...part] : part)),
    (_, part) => (typeof part === "string" ? Buffer.from(part).toString() : isBuffer(part) ? part.data : part),
  );
const isBuffer = (part: unknown): part is { data: unknown } =>
  typeof part === "object" && part !== null && "type" in part && part.type === "Buffer" && "data" in part;

const blockOf = (written: readonly Record[]): Buffer => {
  const block = new BlockWriter();
  for (const record of written) write(block, record);
  return Buffer.from(block.take());
};

it("RS-4 records come back as they were written, and the next block begins after them", () => {
  fc.assert(
    fc.property(fc.array(records, { minLength: 1 }), fc.array(records, { minLength: 1 }), (one, other) => {
      const bytes = Buffer.concat([blockOf(one), blockOf(other)]);
      const first = findBlock(bytes, 0);
      if (first.state !== "block") throw new Error(first.state);
      expect(plain(read(bytes, first))).toEqual(plain(one));
      const second = findBlock(bytes, first.next);
      if (second.state !== "block") throw new Error(second.state);
      expect(plain(read(bytes, second))).toEqual(plain(other));
      expect(second.next).toBe(bytes.length);
    }),
  );
});

it("RS-4 a block of many large records grows with them, and its room is used again", () => {
  const block = new BlockWriter();
  const large = (n: number): Record => [
    "end",
    n,
    { result: Buffer.alloc(60_000, n % 10), outcome: "ok", durationUs: n, errorCode: null, truncated: true },
  ];
  for (const count of [5, 1, 3]) {
    const written = Array.from({ length: count }, (_, n) => large(n + count));
    for (const record of written) write(block, record);
    const bytes = block.take();
    const found = findBlock(bytes, 0);
    if (found.state !== "block") throw new Error(found.state);
    // Compared as a text: going through so many bytes one by one would take seconds.
    expect(JSON.stringify(read(bytes, found))).toBe(JSON.stringify(written));
  }
});

it("F41 a block that was cut off anywhere is not taken for one", () => {
  fc.assert(
    fc.property(fc.array(records, { minLength: 1 }), fc.nat(), (written, cut) => {
      const whole = blockOf(written);
      expect(findBlock(whole.subarray(0, cut % whole.length), 0).state).toBe("short");
    }),
  );
});

it("F36 what was written in another form is not taken for a block", () => {
  const block = blockOf([["route", 1, { server: "a", tool: "b", group: "c", client: null }]]);
  const content = block.subarray(8);
  block.writeUInt32LE(crc32(content), 4); // right, but for the form
  expect(findBlock(block, 0)).toEqual({ state: "damaged" });
});

it("F36 a block with a changed byte is not taken for one", () => {
  fc.assert(
    fc.property(
      fc.array(records, { minLength: 1 }),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      (written, at, change) => {
        const bytes = blockOf(written);
        const index = at % bytes.length;
        bytes[index] = (bytes[index] ?? 0) ^ change;
        expect(findBlock(bytes, 0).state).not.toBe("block");
      },
    ),
  );
});

it("RS-4 of a writer that lives only the last block is checked: it alone may be on its way", () => {
  const end: StoredEnd = { result: null, outcome: "ok", durationUs: 1, errorCode: null, truncated: false };
  const blocks = Buffer.concat([blockOf([["end", 1, end]]), blockOf([["end", 2, end]])]);
  const first = findBlock(blocks, 0);
  if (first.state !== "block") throw new Error("no block");
  blocks[first.next - 1] = 0xff;
  blocks[blocks.length - 1] = 0xff;
  expect(findBlock(blocks, 0).state).toBe("damaged");
  expect(findBlock(blocks, 0, { isOrderly: true })).toEqual(first);
  expect(findBlock(blocks, first.next, { isOrderly: true }).state).toBe("damaged");
});

it("MG-5 an end that an older version wrote has its outcome by success and code", () => {
  const cases = [
    [0x0c, "NETWORK_ERROR", "ok"],
    [0x08, "NETWORK_ERROR", "failed"],
    [0x00, null, "tool_error"],
  ] as const;
  for (const [flags, errorCode, outcome] of cases) {
    const block = new BlockWriter();
    block.end(7, { result: null, outcome: "ok", durationUs: 1, errorCode, truncated: false });
    const bytes = Buffer.from(block.take());
    bytes[9] = flags;
    const ended: StoredEnd[] = [];
    const reader = { onRoute: () => {}, onBegin: () => {}, onEnd: (_: number, end: StoredEnd) => ended.push(end) };
    readBlock(bytes, { from: 8, next: bytes.length }, reader);
    expect(ended).toMatchObject([{ outcome, errorCode }]);
  }
});
