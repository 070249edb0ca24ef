import fc from "fast-check";
import { expect, it } from "vitest";
import { connect, MEMORY } from "./driver.ts";
import { HEAD, HeadPack, HeadPackWriter, MAX_HEADS, NO_TIMES } from "./head-pack.ts";

const most = (digits: number) => Math.min(10 ** digits - 1, Number.MAX_SAFE_INTEGER);
const upTo = (digits: number) =>
  fc.oneof(
    fc.nat(),
    fc.maxSafeNat().map((value) => Math.min(value, most(digits))),
  );
const heads = fc.array(
  fc.record({
    at: upTo(HEAD.at.digits),
    route: fc.integer({ min: 0, max: most(HEAD.route.digits) }),
    durationUs: upTo(HEAD.durationUs.digits),
  }),
  { maxLength: MAX_HEADS },
);

function packed(all: readonly { at: number; route: number; durationUs: number }[], writer = new HeadPackWriter()) {
  writer.start(7);
  for (const { at, route, durationUs } of all) writer.add(at, route, durationUs);
  return new HeadPack(writer.first, writer.bytes.slice());
}

const read = (pack: HeadPack) =>
  Array.from({ length: pack.count }, (_, index) => ({
    at: pack.at(index),
    route: pack.route(index),
    durationUs: pack.durationUs(index),
  }));

it("gives back what was put in, with the times that it covers", () => {
  fc.assert(
    fc.property(heads, (all) => {
      const writer = new HeadPackWriter();
      const pack = packed(all, writer);
      expect(read(pack)).toEqual(all);
      const times = all.map(({ at }) => at);
      expect(writer.earliest).toBe(Math.min(NO_TIMES.earliest, ...times));
      expect(writer.latest).toBe(Math.max(NO_TIMES.latest, ...times));
      expect([writer.next, writer.isFull]).toEqual([7 + all.length, all.length === MAX_HEADS]);
    }),
  );
});

it("goes on with a pack, or with a part of it", () => {
  const all = [3, 1, 2, 5, 4].map((at) => ({ at, route: at * 10, durationUs: at * 100 }));
  const pack = packed(all);
  const writer = new HeadPackWriter();
  writer.startWith(pack, 1, 3);
  expect([writer.first, writer.next, writer.earliest, writer.latest]).toEqual([8, 10, 1, 2]);
  writer.add(9, 90, 900);
  const part = [...all.slice(1, 3), { at: 9, route: 90, durationUs: 900 }];
  expect(read(new HeadPack(writer.first, writer.bytes))).toEqual(part);
});

it("is read by SQLite, too, at the same places", async () => {
  const largest = {
    at: most(HEAD.at.digits),
    route: most(HEAD.route.digits),
    durationUs: most(HEAD.durationUs.digits),
  };
  const pack = packed([{ at: 0, route: 0, durationUs: 0 }, largest]);
  const db = await connect(MEMORY);
  const cut = ({ from, digits }: { from: number; digits: number }) =>
    `CAST(substr(heads, ${HEAD.bytes + from + 1}, ${digits}) AS INTEGER)`;
  const row = db
    .prepare(
      `SELECT ${cut(HEAD.at)} AS at, ${cut(HEAD.route)} AS route, ${cut(HEAD.durationUs)} AS durationUs FROM (SELECT ? AS heads)`,
    )
    .get(pack.bytes);
  expect({ ...row }).toEqual(largest);
  await db.close();
});

it("makes some number of whatever a damaged file holds", () => {
  for (const bytes of [null, "text", new Uint8Array(HEAD.bytes - 1)]) expect(new HeadPack(1, bytes).count).toBe(0);
  expect(read(new HeadPack(1, new Uint8Array(HEAD.bytes).fill(255)))).toHaveLength(1);
});
