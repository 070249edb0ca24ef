// What the edges over HTTP have in common: a message is read from a POST within bounds, and refused in the words of JSON-RPC.

import type { IncomingMessage } from "node:http";
import { sendJson, sendStatus, type HttpResponse } from "./http-answer.ts";
import { failure, RPC, writeReply, type Id } from "./jsonrpc.ts";
import { Pieces } from "./pieces.ts";
import type { QuickRequest } from "./quick-connection.ts";

/** Node's, or one that was read without its parser. */
export type HttpRequest = IncomingMessage | QuickRequest;

export const MAX_BODY_BYTES = 4 << 20;
export const MAX_DEPTH = 64;

/** The body of a POST that carries a message. Without one the request is answered. */
export function readPost(
  request: HttpRequest,
  response: HttpResponse,
  options: { readonly accept: readonly string[] },
  onBody: (body: Buffer) => void,
): void {
  const problem = unacceptable(request, options.accept);
  if (problem !== undefined) return refuse(response, problem.status, RPC.invalidRequest, problem.message);
  readBody(request, (body) => {
    if (body !== undefined) return onBody(body);
    refuse(response, 413, RPC.invalidRequest, `The body is larger than ${MAX_BODY_BYTES} bytes`);
  });
}

function unacceptable(request: HttpRequest, types: readonly string[]): { status: number; message: string } | undefined {
  const type = headerOf(request, "content-type");
  if (type === undefined || !/^application\/json\s*(;|$)/i.test(type)) {
    return { status: 415, message: "A POST needs the header Content-Type: application/json" };
  }
  if (request.headers["content-encoding"] !== undefined)
    return { status: 415, message: "Compressed bodies are not accepted" };
  if (!types.every((accepted) => accepts(request, accepted))) {
    return { status: 406, message: `A POST needs the header Accept: ${types.join(", ")}` };
  }
  return undefined;
}

export function accepts(request: HttpRequest, type: string): boolean {
  const accepted = headerOf(request, "accept");
  return accepted === undefined || accepted.includes(type) || accepted.includes("*/*");
}

/**
 * Gives the whole body, or undefined as soon as it is larger than allowed. Calls back once; never if the client left
 * before. What is too much is still read, and dropped: a connection closed in the middle would take the answer with it.
 * How long that may go on is the listener's to say.
 */
function readBody(request: HttpRequest, done: (body: Buffer | undefined) => void): void {
  if ("body" in request) return done(request.body);
  const pieces = new Pieces();
  const onData = (chunk: Buffer) => {
    pieces.add(chunk);
    if (pieces.size <= MAX_BODY_BYTES) return;
    request.off("data", onData).off("end", onEnd).resume();
    done(undefined);
  };
  const onEnd = () => done(pieces.take());
  request.on("data", onData).on("end", onEnd);
}

export function headerOf(request: HttpRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "string" ? value : undefined;
}

export function accept(response: HttpResponse): void {
  sendStatus(response, 202);
}

/** Answers a request that never reaches the service. */
export function refuse(
  response: HttpResponse,
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
  id?: Id,
  data?: unknown,
): void {
  const reply = failure({ code, message, ...(data === undefined ? {} : { data }) });
  sendJson(response, status, writeReply(id ?? null, reply), headers);
}
