import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PackReader, PackWriter, type Payload } from "./payload-pack.ts";

const part = fc.option(fc.uint8Array({ maxLength: 300 }), { nil: null });
const payloads = fc.array(fc.record({ params: part, result: part }), { minLength: 1, maxLength: 40 });

function packed(all: readonly Payload[]): PackReader {
  const writer = new PackWriter();
  for (const { params, result } of all) writer.add(params, result);
  const { sizes, bytes } = writer.take();
  return new PackReader(sizes, bytes.slice());
}

describe("RS-4 payloads of calls that are entered together", () => {
  it("come back as they were", () => {
    fc.assert(
      fc.property(payloads, (all) => {
        const pack = packed(all);
        expect(all.map((_payload, index) => pack.get(index))).toEqual(all);
      }),
    );
  });

  it("are full when a page is, however large one of them is", () => {
    const writer = new PackWriter();
    const addSmall = () => writer.add(new Uint8Array(100), new Uint8Array(150));
    for (addSmall(); !writer.isFull;) addSmall();
    expect(writer.calls).toBeGreaterThan(20);
    expect(writer.take().bytes.length).toBeLessThan(8000);
    expect([writer.isFull, writer.calls]).toEqual([false, 0]);
    writer.add(new Uint8Array(70_000).fill(7), null);
    expect([writer.isFull, writer.calls]).toEqual([true, 1]);
    const { sizes, bytes } = writer.take();
    expect([sizes, bytes.length, bytes.every((byte) => byte === 7)]).toEqual(["[70000,null]", 70_000, true]);
  });

  it("are nothing where a file is damaged", () => {
    const nothing = { params: null, result: null };
    const bytes = Buffer.from("abc");
    for (const sizes of [undefined, null, "", "[", "{}", 7, new Uint8Array(3)]) {
      expect(new PackReader(sizes, bytes).get(0)).toEqual(nothing);
    }
    const pack = new PackReader('["a",-1,2,9,null,1]', bytes);
    expect(pack.get(0)).toEqual(nothing);
    expect(pack.get(1)).toEqual({ params: Buffer.from("ab"), result: Buffer.from("c") });
    expect(pack.get(2)).toEqual({ params: null, result: Buffer.alloc(0) });
    for (const index of [-1, 3, Number.NaN, -Infinity]) expect(pack.get(index)).toEqual(nothing);
    expect(new PackReader("[1,1]", "no bytes").get(0)).toEqual({ params: new Uint8Array(), result: new Uint8Array() });
  });
});
