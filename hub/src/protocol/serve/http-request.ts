// Reads a message from a POST, within bounds, and refuses requests with a JSON-RPC error. Shared by the HTTP transports.

import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { sendJson, type HttpResponse, type ResponseHeaders } from "./http-response.ts";
import { failure, RPC, writeReply, type Id } from "../rpc/jsonrpc.ts";
import { Chunks } from "@plugboard/shared/streams/chunks";

/** A request whose body is in memory. */
export interface WholeRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export type HttpRequest = IncomingMessage | WholeRequest;

export const MAX_BODY_BYTES = 4 << 20;
export const MAX_DEPTH = 64;

/** Calls back with the body of a POST, or sends an error response. */
export function readPost(
  request: HttpRequest,
  response: HttpResponse,
  options: { readonly accept: readonly string[] },
  onBody: (body: Buffer) => void,
): void {
  const problem = unacceptable(request, options.accept);
  if (problem !== undefined) return refuse(response, problem.status, RPC.invalidRequest, problem.message);
  readBounded(request, response, onBody);
}

/** Calls back with the whole request, or sends an error response. Only POSTs have a body. */
export function readWhole(
  request: HttpRequest,
  response: HttpResponse,
  onWhole: (request: WholeRequest) => void,
): void {
  const { method = "", url = "", headers } = request;
  if ("body" in request) return onWhole(request);
  if (method !== "POST") return onWhole({ method, url, headers, body: Buffer.alloc(0) });
  readBounded(request, response, (body) => onWhole({ method, url, headers, body }));
}

function readBounded(request: HttpRequest, response: HttpResponse, onBody: (body: Buffer) => void): void {
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
 * Calls back once with the body, or with undefined as soon as it is too large; never if the client disconnects. The rest of a
 * body that is too large is read and dropped, since closing the connection could lose the response. The listener limits how long.
 */
export function readBody(request: HttpRequest, done: (body: Buffer | undefined) => void): void {
  if ("body" in request) return done(request.body);
  const pieces = new Chunks();
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
  response.send(202);
}

/** Sends a JSON-RPC error for a request that does not reach the service. */
export function refuse(
  response: HttpResponse,
  status: number,
  code: number,
  message: string,
  headers: ResponseHeaders = {},
  id?: Id,
  data?: unknown,
): void {
  const reply = failure({ code, message, ...(data === undefined ? {} : { data }) });
  sendJson(response, status, writeReply(id ?? null, reply), headers);
}
