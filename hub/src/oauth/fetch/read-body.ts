// Reads the body of an answer, bounded: what counts are the decoded bytes.

import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { HubError } from "../../errors.ts";

/** Rejects with ProtocolError for a larger body, and with the stream's error if the connection breaks. */
export async function readBody(message: IncomingMessage, maxBytes: number): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) {
      message.destroy();
      throw tooLarge(maxBytes);
    }
  }
  return decode(Buffer.concat(chunks), message.headers["content-encoding"] ?? "identity", maxBytes);
}

/** Compression is not requested, but some servers compress anyway. */
async function decode(bytes: Buffer<ArrayBuffer>, encoding: string, maxBytes: number): Promise<Buffer<ArrayBuffer>> {
  const name = encoding.trim().toLowerCase();
  if (name === "identity" || name === "" || bytes.length === 0) return bytes;
  const { brotliDecompress, unzip } = await import("node:zlib");
  const options = { maxOutputLength: maxBytes };
  try {
    if (name === "br") return Buffer.from(await promisify(brotliDecompress)(bytes, options));
    if (name === "gzip" || name === "x-gzip" || name === "deflate") {
      return Buffer.from(await promisify(unzip)(bytes, options));
    }
  } catch {
    throw new HubError("ProtocolError", `The answer cannot be decompressed to at most ${maxBytes} bytes`);
  }
  throw new HubError("ProtocolError", "The answer is compressed in a way that is not supported");
}

function tooLarge(maxBytes: number): HubError {
  return new HubError("ProtocolError", `The answer is larger than ${maxBytes} bytes`);
}
