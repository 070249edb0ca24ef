// The id of a request, in its response, its problem and the log.

import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";

const HEADER = "x-request-id";
const ACCEPTED = /^[\w.-]{1,128}$/;

/** Sets the request id: the client's own if it is safe to log, or a new one. */
export function identify({ headers }: IncomingMessage, response: ServerResponse): string {
  const given = headers[HEADER];
  const requestId = typeof given === "string" && ACCEPTED.test(given) ? given : randomUUID();
  response.setHeader(HEADER, requestId);
  return requestId;
}

export function requestIdOf(response: ServerResponse): string {
  return String(response.getHeader(HEADER) ?? "");
}
