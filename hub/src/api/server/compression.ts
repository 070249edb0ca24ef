// Compresses answers of the API: with thousands of tools they have megabytes.

import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

export type Coding = "br" | "gzip";

/** Smaller answers gain nothing. */
const MIN_BYTES = 1024;
/** As fast as gzip, and a little smaller. */
const BROTLI_QUALITY = 4;

const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);

/** The best coding that the client accepts; undefined if none, or if the answer is small. `q=0` means not acceptable. */
export function codingFor(accepted: string | undefined, bytes: Buffer): Coding | undefined {
  if (accepted === undefined || bytes.length < MIN_BYTES) return undefined;
  const acceptable = accepted.split(",").flatMap((part) => {
    const [name = "", ...parameters] = part
      .toLowerCase()
      .split(";")
      .map((word) => word.trim());
    return parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter)) ? [] : [name];
  });
  return acceptable.includes("br") ? "br" : acceptable.includes("gzip") ? "gzip" : undefined;
}

/** Runs in the thread pool. */
export function compressed(bytes: Buffer, coding: Coding): Promise<Buffer> {
  if (coding === "gzip") return toGzip(bytes);
  return toBrotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
}
