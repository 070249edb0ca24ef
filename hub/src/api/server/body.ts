// Reads the body of a request: JSON in UTF-8, with limits on size and depth before it is parsed. check.ts validates it.

import { isUtf8 } from "node:buffer";
import { HubError } from "../../errors.ts";
import { findExcess } from "../../lib/json/json-limits.ts";
import { membersOf } from "../../lib/json/json.ts";
import { Chunks } from "@plugboard/shared/streams/chunks";
import { HttpFailure } from "../../http/problem.ts";

export const MAX_BODY_BYTES = 1 << 20;
const MAX_DEPTH = 64;
const JSON_TYPE = /^application\/(?:[a-z.-]+\+)?json *(?:;|$)/i;

export interface Body {
  readonly bytes: Buffer;
  /** The JSON object; undefined if there is no body. */
  readonly json: unknown;
}

export async function readBody(request: Request): Promise<Body> {
  const bytes = await readBytes(request);
  if (bytes.length === 0) return { bytes, json: undefined };
  // A form of another site cannot send this type without a CORS preflight.
  if (!JSON_TYPE.test(request.headers.get("content-type") ?? ""))
    throw unsupported("The body must be application/json");
  if (request.headers.has("content-encoding")) throw unsupported("Compressed bodies are not supported");
  if (!isUtf8(bytes)) throw malformed("The body is not valid UTF-8");
  if (membersOf(bytes, MAX_DEPTH) === undefined) {
    throw malformed(`The body must be one JSON object, nested at most ${MAX_DEPTH} levels deep`);
  }
  const text = bytes.toString();
  const json = parse(text);
  const excess = findExcess(text, { unique: true, wellFormed: true });
  if (excess !== undefined) throw malformed(`Invalid body: ${excess}`);
  return { bytes, json };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw malformed("The body is not valid JSON", error);
  }
}

async function readBytes({ headers, body }: Request): Promise<Buffer> {
  if (Number(headers.get("content-length")) > MAX_BODY_BYTES) throw tooLarge();
  if (body === null) return Buffer.alloc(0);
  const chunks = new Chunks();
  // The adapter discards the rest of a body that is not read to its end.
  for (const reader = body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) return chunks.take();
    chunks.add(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
    if (chunks.size > MAX_BODY_BYTES) throw tooLarge();
  }
}

function unsupported(message: string): HttpFailure {
  return new HttpFailure(415, "VALIDATION_ERROR", message);
}

function malformed(message: string, cause?: unknown): HubError {
  return new HubError("SerializationError", message, { cause });
}

function tooLarge(): HubError {
  return new HubError("PayloadTooLarge", `The body is larger than ${MAX_BODY_BYTES / 1024} KiB`);
}
