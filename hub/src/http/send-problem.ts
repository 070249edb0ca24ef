// Sends a problem+json response to a request that no REST route handles.

import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { NodeResponse } from "./node-response.ts";
import { PROBLEM_TYPE, toProblem } from "./problem.ts";

export function sendProblem(response: ServerResponse, error: unknown, requestId: string = randomUUID()): void {
  if (response.headersSent) return void response.destroy();
  const { problem, headers } = toProblem(error, requestId);
  const body = Buffer.from(JSON.stringify(problem));
  // The rest of the request is read and dropped for a while (listener.ts): closing at once could lose the response.
  new NodeResponse(response).send(problem.status, { ...headers, "content-type": PROBLEM_TYPE }, body);
}
