// A block of the journal: what one turn of the event loop or a few had to record. It carries its length and a checksum, so that one
// cut off by a kill, or spoilt by the disk, is known as such. Where a call goes is said once and has a number from then on:
// this stands in the path of every call, and numbers cost less than names, for the writer and for the reader.

import { crc32 } from "node:zlib";
import { OUTCOMES, type Outcome } from "../calls/outcome.ts";
import type { Route, StoredEnd, StoredOpening } from "../calls/stored-call.ts";

/** What is told of each record, in the order in which they were written. */
export interface BlockReader {
  onRoute(number: number, route: Route): void;
  /** Payloads are views of the bytes that are read. */
  onBegin(id: number, route: number, start: StoredOpening): void;
  onEnd(id: number, end: StoredEnd): void;
}

/** Where its records stand, and what follows it begins. */
export interface Block {
  readonly from: number;
  readonly next: number;
}

/** What stands at a place: a block and where the next one begins; one that is not all there (yet); or something else. */
export type Found = ({ readonly state: "block" } & Block) | { readonly state: "short" } | { readonly state: "damaged" };

/** Length of what follows the frame, and its checksum. */
const FRAME_BYTES = 8;
/** What checksums begin with: what was written in another form is not taken for this one. Another number with each. */
const FORM = 2;
const ROUTE = 1;
const BEGIN = 2;
const END = 3;
/** Kind, flags and id, which all records begin with. */
const HEAD_BYTES = 6;
const FLAG = { truncated: 1, payload: 2, success: 4, text: 8 } as const;
/** Above the flags stands which outcome it is, counted from 1. What older versions wrote has 0 there, and only `success`. */
const OUTCOME_SHIFT = 4;
/** Besides head, text and payload. */
const MOST_BYTES = 32;
const FIRST_BYTES = 64 << 10;
/** A block that has grown so large is written before another record goes into it. */
const FULL_BYTES = 256 << 10;
/** Far above the longest: a payload is cut at 64 KiB, a name at 256 characters. */
export const MAX_BLOCK_BYTES = 1 << 20;

export class BlockWriter {
  /** Used again and again: what is written at once needs no room of its own. */
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #view = viewOf(this.#bytes);
  #at = FRAME_BYTES;

  get isEmpty(): boolean {
    return this.#at === FRAME_BYTES;
  }

  /** So far, with the frame. */
  get bytes(): number {
    return this.#at;
  }

  get isFull(): boolean {
    return this.#at > FULL_BYTES;
  }

  route(number: number, { server, tool, group, client }: Route): void {
    this.#record(ROUTE, 0, number, JSON.stringify([server, tool, group, client]), null);
  }

  /** Ids take 32 bits: what matters is which call of those under way it is. */
  begin(id: number, route: number, { at, workflowId, params, truncated }: StoredOpening): void {
    const flags = truncated ? FLAG.truncated : 0;
    this.#record(BEGIN, flags, id, workflowId, params);
    this.#double(at);
    this.#int(route);
  }

  end(id: number, { outcome, durationUs, errorCode, result, truncated }: StoredEnd): void {
    const flags =
      (truncated ? FLAG.truncated : 0) |
      (outcome === "ok" ? FLAG.success : 0) |
      ((OUTCOMES.indexOf(outcome) + 1) << OUTCOME_SHIFT);
    this.#record(END, flags, id, errorCode, result);
    this.#double(durationUs);
  }

  /** The block as it goes into the file. Good until the next record. */
  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.#at);
    this.#view.setUint32(0, this.#at - FRAME_BYTES, true);
    this.#view.setUint32(4, crc32(bytes.subarray(FRAME_BYTES), FORM), true);
    this.#at = FRAME_BYTES;
    return bytes;
  }

  #record(kind: number, flags: number, id: number, text: string | null, payload: Uint8Array | null): void {
    this.#makeRoom(HEAD_BYTES + MOST_BYTES + (text?.length ?? 0) * 3 + (payload?.length ?? 0));
    const bytes = this.#bytes;
    bytes[this.#at] = kind;
    bytes[this.#at + 1] = flags | (payload === null ? 0 : FLAG.payload) | (text === null ? 0 : FLAG.text);
    this.#at += 2;
    this.#int(id);
    if (text !== null) {
      const written = bytes.write(text, this.#at + 4);
      this.#int(written);
      this.#at += written;
    }
    if (payload !== null) {
      this.#int(payload.length);
      bytes.set(payload, this.#at);
      this.#at += payload.length;
    }
  }

  #int(value: number): void {
    this.#view.setUint32(this.#at, value, true);
    this.#at += 4;
  }

  #double(value: number): void {
    this.#view.setFloat64(this.#at, value, true);
    this.#at += 8;
  }

  #makeRoom(more: number): void {
    if (this.#at + more <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * (this.#at + more));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
    this.#view = viewOf(larger);
  }
}

/** Numbers are read and written through it in a fraction of the time that a Buffer takes for them. */
function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** `isOrderly`: whoever writes it lives, so a block with anything behind it is whole, and its checksum would say nothing else. */
export function findBlock(bytes: Buffer, at: number, { isOrderly = false } = {}): Found {
  if (bytes.length - at < FRAME_BYTES) return { state: "short" };
  const length = bytes.readUInt32LE(at);
  if (length === 0 || length > MAX_BLOCK_BYTES) return { state: "damaged" };
  const from = at + FRAME_BYTES;
  const next = from + length;
  if (bytes.length < next) return { state: "short" };
  const isCertain = isOrderly && bytes.length > next;
  if (!isCertain && crc32(bytes.subarray(from, next), FORM) !== bytes.readUInt32LE(at + 4)) return { state: "damaged" };
  return { state: "block", from, next };
}

/** Reads the records of a block that was found: they are what we wrote. */
export function readBlock(bytes: Buffer, { from, next }: Block, reader: BlockReader): void {
  const view = viewOf(bytes);
  for (let at = from; at < next;) {
    const kind = bytes[at];
    const flags = bytes[at + 1] ?? 0;
    const id = view.getUint32(at + 2, true);
    at += HEAD_BYTES;
    let text: string | null = null;
    if ((flags & FLAG.text) !== 0) {
      const end = at + 4 + view.getUint32(at, true);
      text = bytes.toString("utf8", at + 4, end);
      at = end;
    }
    let payload: Buffer | null = null;
    if ((flags & FLAG.payload) !== 0) {
      const end = at + 4 + view.getUint32(at, true);
      payload = bytes.subarray(at + 4, end);
      at = end;
    }
    const truncated = (flags & FLAG.truncated) !== 0;
    if (kind === ROUTE) {
      reader.onRoute(id, toRoute(text ?? "[]"));
    } else if (kind === BEGIN) {
      const start = { at: view.getFloat64(at, true), workflowId: text, params: payload, truncated };
      reader.onBegin(id, view.getUint32(at + 8, true), start);
      at += 12;
    } else {
      const outcome = outcomeIn(flags, text);
      reader.onEnd(id, { result: payload, outcome, durationUs: view.getFloat64(at, true), errorCode: text, truncated });
      at += 8;
    }
  }
}

function outcomeIn(flags: number, errorCode: string | null): Outcome {
  const known = OUTCOMES[(flags >> OUTCOME_SHIFT) - 1];
  if (known !== undefined) return known;
  if ((flags & FLAG.success) !== 0) return "ok";
  return errorCode === null ? "tool_error" : "failed";
}

function toRoute(json: string): Route {
  const [server, tool, group, client]: unknown[] = JSON.parse(json);
  return {
    server: String(server),
    tool: String(tool),
    group: String(group),
    client: typeof client === "string" ? client : null,
  };
}
