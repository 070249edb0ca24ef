// JSON-RPC batches: an array of messages in place of one. Revisions up to 2025-03-26 have them, later ones do not.

import { elementsOf, skipBlank } from "./json.ts";
import { RPC } from "./jsonrpc.ts";

export type Batch =
  | { readonly kind: "batch"; readonly members: readonly Buffer[] }
  | { readonly kind: "refused"; readonly code: number; readonly message: string };

export interface BatchOptions {
  /** How many members are accepted. */
  readonly max: number;
  readonly maxDepth?: number;
}

const OPEN_BRACKET = 0x5b;

/** Whether the bytes begin as an array does. */
export function isArray(bytes: Buffer): boolean {
  return bytes[skipBlank(bytes, 0)] === OPEN_BRACKET;
}

/** The members of an array, each still to be read as a message; undefined where the bytes are none. */
export function readBatch(bytes: Buffer, { max, maxDepth = 256 }: BatchOptions): Batch | undefined {
  if (!isArray(bytes)) return undefined;
  // The array itself is one level.
  const members = elementsOf(bytes, max, maxDepth + 1);
  if (members === undefined) return refused(RPC.parseError, "The batch is not valid JSON, or nests too deep");
  if (members.length === 0) return refused(RPC.invalidRequest, "A batch has at least one message");
  if (members.length > max) return refused(RPC.invalidRequest, `A batch has at most ${max} messages`);
  return { kind: "batch", members };
}

/** The newest revision that has batches. */
export const LAST_BATCH_VERSION = "2025-03-26";

/** Several messages as one. */
export function writeBatch(messages: readonly Buffer[]): Buffer {
  const parts = messages.flatMap((message, index) => [index === 0 ? OPEN : SEPARATOR, message]);
  return Buffer.concat([...parts, CLOSE]);
}

const OPEN = Buffer.from("[");
const SEPARATOR = Buffer.from(",");
const CLOSE = Buffer.from("]");

function refused(code: number, message: string): Batch {
  return { kind: "refused", code, message };
}
