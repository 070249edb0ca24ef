// JSON over HTTP for sources. Every request has a timeout and a size limit, and errors never contain the URL, which may hold a
// token.

import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { parseJson } from "@plugboard/shared/lenient";
import { codeOf, SourceFailure } from "./failure.ts";

const MAX_BYTES = 64 * 1024 * 1024;

export interface JsonRequest {
  readonly method?: "GET" | "POST" | "PUT";
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface JsonResponse {
  readonly status: number;
  /** Undefined if it is not JSON. */
  readonly body: unknown;
}

export async function requestJson(url: string, request: JsonRequest): Promise<JsonResponse> {
  const deadline = createDeadline(request.signal, request.timeoutMs);
  try {
    const response = await open(url, request, deadline.signal);
    return { status: response.statusCode ?? 0, body: parseJson(await readAll(response)) };
  } catch (error) {
    throw toFailure(error, deadline, url);
  } finally {
    deadline.clear();
  }
}

/** Opens a streaming response, which lives as long as the deadline is extended. */
export async function openStream(
  url: string,
  headers: Readonly<Record<string, string>>,
  deadline: Deadline,
): Promise<IncomingMessage> {
  try {
    return await open(url, { headers }, deadline.signal);
  } catch (error) {
    throw toFailure(error, deadline, url);
  }
}

/** Not fetch: on Node 20 its signal no longer aborts a started response after a garbage collection. */
function open(
  url: string,
  { method = "GET", headers, body }: Partial<JsonRequest>,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const ours = payload === undefined ? {} : { "content-type": "application/json", "content-length": payload.length };
  const send = url.startsWith("https:") ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = send(
      url,
      { method, signal, headers: { accept: "application/json", ...headers, ...ours } },
      resolve,
    );
    request.on("error", reject);
    request.end(payload);
  });
}

async function readAll(response: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response) {
    size += part.length;
    if (size > MAX_BYTES) throw new SourceFailure("refused", `The response is larger than ${MAX_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

export function toFailure(error: unknown, deadline: Deadline, url: string): SourceFailure {
  if (error instanceof SourceFailure) return error;
  const { host } = new URL(url);
  if (deadline.hasPassed()) return new SourceFailure("unreachable", `${host} did not answer in time`);
  return new SourceFailure("unreachable", `Cannot reach ${host} (${codeOf(error)})`);
}

export interface Deadline {
  /** Aborts on timeout or with the outer signal. */
  readonly signal: AbortSignal;
  hasPassed(): boolean;
  /** Restarts the timeout. */
  extend(): void;
  /** Suspends the timeout until the next `extend`. */
  suspend(): void;
  clear(): void;
}

/** Not AbortSignal.any: on Node 20 it leaks until the outer signal is collected. */
export function createDeadline(outer: AbortSignal, timeoutMs: number): Deadline {
  const controller = new AbortController();
  let isPassed = false;
  let isSuspended = false;
  const onAbort = (): void => controller.abort();
  const timer = setTimeout(() => {
    if (isSuspended) return;
    isPassed = true;
    controller.abort();
  }, timeoutMs);
  if (outer.aborted) controller.abort();
  outer.addEventListener("abort", onAbort, { once: true });
  return {
    signal: controller.signal,
    hasPassed: () => isPassed,
    extend: () => {
      isSuspended = false;
      timer.refresh();
    },
    suspend: () => {
      isSuspended = true;
    },
    clear: () => {
      clearTimeout(timer);
      outer.removeEventListener("abort", onAbort);
      // Ends a response that is still being read.
      controller.abort();
    },
  };
}
