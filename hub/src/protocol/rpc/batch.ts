// JSON-RPC batches: arrays of messages. Revisions up to 2025-03-26 have them, later ones do not.

import { classifyIncoming } from "../revisions/era.ts";
import { elementsOf, skipBlank } from "../../lib/json/json.ts";
import { readMessage, RPC, type Malformed, type Message } from "./jsonrpc.ts";

interface Refused {
  readonly kind: "refused";
  readonly code: number;
  readonly message: string;
}

export type Batch = { readonly kind: "batch"; readonly members: readonly Buffer[] } | Refused;

export interface BatchOptions {
  /** How many members are accepted. */
  readonly max: number;
  readonly maxDepth?: number;
}

const OPEN_BRACKET = 0x5b;

/** Whether the bytes begin with `[`. */
export function isArray(bytes: Buffer): boolean {
  return bytes[skipBlank(bytes, 0)] === OPEN_BRACKET;
}

/** The unparsed elements of an array; undefined if the bytes are not an array. */
export function readBatch(bytes: Buffer, { max, maxDepth = 256 }: BatchOptions): Batch | undefined {
  if (!isArray(bytes)) return undefined;
  // The array itself counts as a level.
  const members = elementsOf(bytes, max, maxDepth + 1);
  if (members === undefined) return refused(RPC.parseError, "The batch is not valid JSON, or nested too deeply");
  if (members.length === 0) return refused(RPC.invalidRequest, "The batch is empty");
  if (members.length > max) return refused(RPC.invalidRequest, `The batch has more than ${max} messages`);
  return { kind: "batch", members };
}

/** The newest revision that has batches. */
const LAST_VERSION = "2025-03-26";
const MAX_CLIENT_BATCH = 100;

export interface ClientBatchOptions {
  /** The revision of the client's session, if it has one. */
  readonly version: string | undefined;
  readonly headerVersion?: string | undefined;
  readonly maxDepth: number;
}

/** The elements of a client's batch, malformed ones included, or the reason why the batch is rejected. */
export function readClientBatch(
  bytes: Buffer,
  { version, headerVersion, maxDepth }: ClientBatchOptions,
): { readonly kind: "messages"; readonly messages: readonly (Message | Malformed)[] } | Refused {
  const batch = readBatch(bytes, { max: MAX_CLIENT_BATCH, maxDepth });
  if (batch === undefined) return refused(RPC.parseError, "The message is not a batch");
  if (batch.kind === "refused") return batch;
  if (version === undefined) return refused(RPC.invalidRequest, "A batch needs a session: send `initialize` first");
  if (version > LAST_VERSION) {
    const message = `Batches are not supported after revision ${LAST_VERSION}; this session uses ${version}`;
    return refused(RPC.invalidRequest, message);
  }
  const messages = batch.members.map((member) => readMessage(member, { maxDepth }));
  for (const message of messages) {
    if (message.kind !== "request" && message.kind !== "notification") continue;
    if (message.method === "initialize") return refused(RPC.invalidRequest, "`initialize` cannot be part of a batch");
    if (classifyIncoming(message.method, message.params?.value, headerVersion).era !== "legacy") {
      return refused(RPC.invalidRequest, "A message of the stateless protocol cannot be part of a batch");
    }
  }
  return { kind: "messages", messages };
}

/** Whether an element of a batch gets a reply. */
export function isAnswered({ kind }: Message | Malformed): boolean {
  return kind === "request" || kind === "malformed";
}

/** Joins messages into one array. */
export function writeBatch(messages: readonly Buffer[]): Buffer {
  const parts = messages.flatMap((message, index) => [index === 0 ? OPEN : SEPARATOR, message]);
  return Buffer.concat([...parts, CLOSE]);
}

const OPEN = Buffer.from("[");
const SEPARATOR = Buffer.from(",");
const CLOSE = Buffer.from("]");

function refused(code: number, message: string): Refused {
  return { kind: "refused", code, message };
}
