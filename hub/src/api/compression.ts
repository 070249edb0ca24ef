// Answers of the API in fewer bytes, for clients that take them so: with thousands of tools they are megabytes.

import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

export type Coding = "br" | "gzip";

/** Below it there is nothing to gain. */
const MIN_BYTES = 1024;
/** The time of gzip, and a little smaller. */
const BROTLI_QUALITY = 4;

const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);

/** What the client takes and is worth it. A coding that it refuses with `q=0` is not taken. */
export function codingFor(accepted: string | undefined, bytes: Buffer): Coding | undefined {
  if (accepted === undefined || bytes.length < MIN_BYTES) return undefined;
  const taken = accepted.split(",").flatMap((part) => {
    const [name = "", ...parameters] = part
      .toLowerCase()
      .split(";")
      .map((word) => word.trim());
    return parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter)) ? [] : [name];
  });
  return taken.includes("br") ? "br" : taken.includes("gzip") ? "gzip" : undefined;
}

/** Off the event loop. */
export function compressed(bytes: Buffer, coding: Coding): Promise<Buffer> {
  if (coding === "gzip") return toGzip(bytes);
  return toBrotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
}
