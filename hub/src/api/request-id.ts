// The id of a request: in its answer, in its problem, in the log.

import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";

const HEADER = "x-request-id";
const ACCEPTED = /^[\w.-]{1,128}$/;

/** Gives a request its id: the client's own, where it is a harmless one, since it stands in logs. */
export function identify({ headers }: IncomingMessage, response: ServerResponse): string {
  const given = headers[HEADER];
  const requestId = typeof given === "string" && ACCEPTED.test(given) ? given : randomUUID();
  response.setHeader(HEADER, requestId);
  return requestId;
}

/** The id that a request was given. */
export function requestIdOf(response: ServerResponse): string {
  return String(response.getHeader(HEADER) ?? "");
}
