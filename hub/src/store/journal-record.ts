// One record of the journal: that a call has begun, or how it ended. It carries its length and a checksum, so that one cut
// off by a kill, or spoilt by the disk, is known as such.

import { crc32 } from "node:zlib";
import type { StoredEnd, StoredStart } from "../calls/stored-call.ts";

export type JournalRecord =
  | { readonly kind: "begin"; readonly id: number; readonly start: StoredStart }
  | { readonly kind: "end"; readonly id: number; readonly end: StoredEnd };

/** What stands at a place: a record and where the next one begins; one that is not all there (yet); or something else. */
export type Decoded =
  | { readonly state: "record"; readonly record: JournalRecord; readonly next: number }
  | { readonly state: "short" }
  | { readonly state: "damaged" };

/** Length of what follows the frame, and its checksum. */
const FRAME_BYTES = 8;
/** What follows: kind, length of the head, head (a JSON array), payload. */
const FIXED_BYTES = 5;
const BEGIN = 1;
const END = 2;
/** Far above the longest: a payload is cut at 64 KiB, a name at 256 characters. */
export const MAX_RECORD_BYTES = 1 << 20;

export function encodeBegin(id: number, start: StoredStart): Buffer {
  const { at, server, tool, group, client, workflowId, params, truncated } = start;
  const head = [id, at, server, tool, group, client, workflowId, truncated, params !== null];
  return encode(BEGIN, JSON.stringify(head), params);
}

export function encodeEnd(id: number, { success, durationUs, errorCode, result, truncated }: StoredEnd): Buffer {
  return encode(END, JSON.stringify([id, success, durationUs, errorCode, truncated, result !== null]), result);
}

function encode(kind: number, head: string, payload: Uint8Array | null): Buffer {
  const headBytes = Buffer.byteLength(head);
  const restBytes = FIXED_BYTES + headBytes + (payload?.length ?? 0);
  const bytes = Buffer.allocUnsafe(FRAME_BYTES + restBytes);
  bytes.writeUInt32LE(restBytes, 0);
  bytes.writeUInt8(kind, FRAME_BYTES);
  bytes.writeUInt32LE(headBytes, FRAME_BYTES + 1);
  bytes.write(head, FRAME_BYTES + FIXED_BYTES);
  if (payload !== null) bytes.set(payload, FRAME_BYTES + FIXED_BYTES + headBytes);
  bytes.writeUInt32LE(crc32(bytes.subarray(FRAME_BYTES)), 4);
  return bytes;
}

export function decode(bytes: Buffer, at: number): Decoded {
  if (bytes.length - at < FRAME_BYTES) return { state: "short" };
  const restBytes = bytes.readUInt32LE(at);
  if (restBytes < FIXED_BYTES || restBytes > MAX_RECORD_BYTES) return { state: "damaged" };
  const from = at + FRAME_BYTES;
  const next = from + restBytes;
  if (bytes.length < next) return { state: "short" };
  const rest = bytes.subarray(from, next);
  if (crc32(rest) !== bytes.readUInt32LE(at + 4)) return { state: "damaged" };
  const payloadAt = FIXED_BYTES + rest.readUInt32LE(1);
  // The checksum is right, so it is what we wrote.
  const head: unknown[] = JSON.parse(rest.toString("utf8", FIXED_BYTES, payloadAt));
  const payload = head.at(-1) === true ? rest.subarray(payloadAt) : null;
  return { state: "record", record: toRecord(rest.readUInt8(0), head, payload), next };
}

function toRecord(kind: number, head: readonly unknown[], payload: Uint8Array | null): JournalRecord {
  if (kind === BEGIN) {
    const [id, at, server, tool, group, client, workflowId, truncated] = head;
    const start = {
      at: Number(at),
      server: String(server),
      tool: String(tool),
      group: String(group),
      client: textOf(client),
      workflowId: textOf(workflowId),
      // Copied: a call may be open for long, and the bytes read are much more than its own.
      params: payload && Uint8Array.from(payload),
      truncated: truncated === true,
    };
    return { kind: "begin", id: Number(id), start };
  }
  const [id, success, durationUs, errorCode, truncated] = head;
  const end = {
    result: payload,
    success: success === true,
    durationUs: Number(durationUs),
    errorCode: textOf(errorCode),
    truncated: truncated === true,
  };
  return { kind: "end", id: Number(id), end };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
