// Sends one HTTP request to a hub. Uses node:http, because loading fetch takes longer than the rest of a command. Redirects are
// not followed: the token is for one hub only.

import type { IncomingMessage } from "node:http";
import { request as overHttp } from "node:http";

export interface HttpRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Timeout of an idle socket, for callers without a timeout. */
const IDLE_TIMEOUT_MS = 300_000;

export async function send(url: URL, { method, headers, body, signal }: HttpRequest): Promise<IncomingMessage> {
  const request = url.protocol === "https:" ? (await import("node:https")).request : overHttp;
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { "content-length": body.length };
    const options = { method, headers: { ...headers, ...length }, timeout: IDLE_TIMEOUT_MS, ...(signal && { signal }) };
    const sent = request(url, options, resolve);
    sent.once("timeout", () => sent.destroy(new Error(`No data for ${IDLE_TIMEOUT_MS} ms`)));
    // Not `once`: errors after the answer has begun need a handler too, although only the body reports them.
    sent.on("error", reject);
    sent.end(body);
  });
}

/** The complete body. */
export async function readAll(answer: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part);
  return Buffer.concat(parts);
}
