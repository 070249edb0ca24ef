// Answers a request with a problem, outside of the REST routes: at a door that stays closed.

import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { sendJson } from "../wire/http-answer.ts";
import { PROBLEM_TYPE, toProblem } from "./problem.ts";

export function sendProblem(response: ServerResponse, error: unknown, requestId: string = randomUUID()): void {
  if (response.headersSent) return void response.destroy();
  const { problem, headers } = toProblem(error, requestId);
  const body = Buffer.from(JSON.stringify(problem));
  // What the client still sends is thrown away, for a while (listener.ts): closing at once could take the answer with it.
  sendJson(response, problem.status, body, { ...headers, "content-type": PROBLEM_TYPE });
}
