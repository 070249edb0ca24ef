// Writes protobuf messages into one growing buffer. Zeros and empty texts are what a reader takes for granted, and are left
// out. Which fields there are is left to others.

const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

export class ProtobufWriter {
  #bytes = Buffer.allocUnsafe(16 << 10);
  #length = 0;

  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  text(field: number, text: string | undefined): void {
    if (text !== undefined && text !== "") this.#sized(field, text, "utf8", Buffer.byteLength(text));
  }

  hex(field: number, hex: string | undefined): void {
    if (hex !== undefined && hex !== "") this.#sized(field, hex, "hex", hex.length / 2);
  }

  /** Written even where it is empty: of several fields, it says which one is meant. */
  choice(field: number, value: string | number): void {
    if (typeof value === "string") return this.#sized(field, value, "utf8", Buffer.byteLength(value));
    this.#tag(field, WIRE.varint);
    this.#varint(value);
  }

  integer(field: number, value: number): void {
    if (value === 0) return;
    this.#tag(field, WIRE.varint);
    this.#varint(value);
  }

  fixed64(field: number, value: bigint): void {
    this.#tag(field, WIRE.fixed64);
    this.#reserve(8);
    this.#length = this.#bytes.writeBigUInt64LE(value, this.#length);
  }

  fixed32(field: number, value: number): void {
    this.#tag(field, WIRE.fixed32);
    this.#reserve(4);
    this.#length = this.#bytes.writeUInt32LE(value, this.#length);
  }

  /** A message within this one. Its length stands before it and is known after it: it is moved to make room. */
  message(field: number, write: () => void): void {
    this.#tag(field, WIRE.bytes);
    const start = this.#length;
    write();
    const end = this.#length;
    this.#length = start;
    const size = varintSize(end - start);
    this.#reserve(end - start + size);
    this.#bytes.copyWithin(start + size, start, end);
    this.#varint(end - start);
    this.#length = end + size;
  }

  #sized(field: number, text: string, encoding: BufferEncoding, size: number): void {
    this.#tag(field, WIRE.bytes);
    this.#varint(size);
    this.#reserve(size);
    this.#length += this.#bytes.write(text, this.#length, encoding);
  }

  #tag(field: number, wire: number): void {
    this.#varint((field << 3) | wire);
  }

  /** Seven bits at a time; a negative number as the 64 bits that it has in two's complement. */
  #varint(value: number): void {
    this.#reserve(10);
    if (value >= 0 && value < 0x80) {
      this.#bytes[this.#length++] = value;
      return;
    }
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest > 0x7fn; rest >>= 7n) this.#bytes[this.#length++] = Number(rest & 0x7fn) | 0x80;
    this.#bytes[this.#length++] = Number(rest);
  }

  #reserve(size: number): void {
    if (this.#length + size <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.#bytes.length + size));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

function varintSize(value: number): number {
  return value < 0x80 ? 1 : 1 + varintSize(Math.floor(value / 0x80));
}
