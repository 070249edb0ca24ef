// The fields of a form that a browser sends.

import type { IncomingMessage } from "node:http";
import { HubError } from "../../errors.ts";

const MAX_BYTES = 64 * 1024;
const TYPE = "application/x-www-form-urlencoded";

export async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  if (request.headers["content-type"]?.split(";", 1)[0] !== TYPE) {
    throw new HubError("InvalidArgument", "This address takes only the form of its page");
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new HubError("PayloadTooLarge", "The form is too large");
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
}
