// One HTTP request to a hub, and its answer before the body is read. With node:http, not fetch: to load that, and to compile
// the parser in it, takes more than all else that a command does. Redirects are not followed: a token is for one hub alone.

import type { IncomingMessage } from "node:http";
import { request as overHttp } from "node:http";

export interface Outgoing {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
  readonly signal: AbortSignal | undefined;
}

/** For whoever sets no limit of their own: nothing at all may come for so long. */
const SILENCE_MS = 300_000;

export async function send(url: URL, { method, headers, body, signal }: Outgoing): Promise<IncomingMessage> {
  const request = url.protocol === "https:" ? (await import("node:https")).request : overHttp;
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { "content-length": body.length };
    const options = { method, headers: { ...headers, ...length }, timeout: SILENCE_MS, ...(signal && { signal }) };
    const asked = request(url, options, resolve);
    asked.once("timeout", () => asked.destroy(new Error(`Nothing came for ${SILENCE_MS} ms`)));
    // Stays for what comes after the answer has begun: its reader is told by the body.
    asked.on("error", reject);
    asked.end(body);
  });
}

/** All of a body. */
export async function readAll(answer: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part);
  return Buffer.concat(parts);
}
