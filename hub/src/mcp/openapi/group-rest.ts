// The tools of a group over REST: `GET /groups/{group}/openapi.json` describes them, `POST /groups/{group}/tools/{tool}` calls one.
// Callers, groups and limits are those of the group's MCP endpoint.

import type { IncomingMessage, ServerResponse } from "node:http";
import { decodeUri } from "@plugboard/shared/lenient";
import type { Edge } from "../../http/listener.ts";
import { NodeResponse } from "../../http/node-response.ts";
import { HttpFailure, wrongMethod } from "../../http/problem.ts";
import { identify } from "../../http/request-id.ts";
import { sendProblem } from "../../http/send-problem.ts";
import { Cancellable } from "../../lib/cancellation.ts";
import { findExcess } from "../../lib/json/json-limits.ts";
import { membersOf } from "../../lib/json/json.ts";
import { HubError } from "../../errors.ts";
import { MAX_BODY_BYTES, MAX_DEPTH, readBody } from "../../protocol/serve/http-request.ts";
import type { McpHttp } from "../http.ts";
import { groupDocument } from "./group-document.ts";
import { toAnswer, toIncoming } from "./rest-call.ts";

const PATH = /^\/groups\/([^/?]+)\/(?:openapi\.json|tools\/([^/?]+))(?:\?.*)?$/;
/** The name that a client gives itself. */
const CLIENT_HEADER = "plugboard-client";
const MAX_CLIENT = 128;

export interface GroupRestOptions {
  readonly mcp: Pick<McpHttp, "admit">;
  /** The origin under which clients reach the hub. */
  readonly base: () => string;
  readonly needsToken: boolean;
}

export function createGroupRest(options: GroupRestOptions): Edge {
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    const [, group, tool] = PATH.exec(request.url ?? "") ?? [];
    if (group === undefined) return false;
    const requestId = identify(request, response);
    answer(request, response, { group, tool, options })
      .then((body) => send(response, body))
      .catch((error: unknown) => sendProblem(response, error, requestId));
    return true;
  };
}

interface Asked {
  /** Neither is decoded yet. */
  readonly group: string;
  readonly tool: string | undefined;
  readonly options: GroupRestOptions;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { group, tool, options }: Asked,
): Promise<Buffer> {
  const { mcp, base, needsToken } = options;
  const admitted = await mcp.admit(request, group);
  if (tool === undefined) {
    if (request.method !== "GET" && request.method !== "HEAD") throw wrongMethod(["GET"]);
    return Buffer.from(JSON.stringify(groupDocument(admitted.group, { base: base(), needsToken })));
  }
  if (request.method !== "POST") throw wrongMethod(["POST"]);
  const args = await argumentsIn(request);
  const signal = new Cancellable();
  const onClose = () => {
    if (!response.writableEnded) signal.abort();
  };
  response.once("close", onClose);
  const call = toIncoming({
    tool: decodeUri(tool),
    args,
    client: clientOf(request),
    headers: request.headers,
    requester: admitted.requester,
    signal,
  });
  try {
    return toAnswer(await admitted.endpoint.handle(call));
  } finally {
    response.off("close", onClose);
  }
}

function send(response: ServerResponse, body: Buffer): void {
  const headers = {
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  };
  new NodeResponse(response).send(200, headers, body);
}

/** One JSON object; an empty body is one without members. */
async function argumentsIn(request: IncomingMessage): Promise<Buffer> {
  const { headers } = request;
  const bytes = await new Promise<Buffer | undefined>((resolve, reject) => {
    request.once("error", reject);
    readBody(request, resolve);
  });
  if (bytes === undefined) throw new HubError("PayloadTooLarge", `The body is larger than ${MAX_BODY_BYTES} bytes`);
  if (bytes.length === 0) return Buffer.from("{}");
  // A page of another site cannot send this type without asking first.
  if (!/^application\/json\s*(;|$)/i.test(headers["content-type"] ?? "")) {
    throw new HttpFailure(415, "VALIDATION_ERROR", "The body must be application/json");
  }
  if (headers["content-encoding"] !== undefined) {
    throw new HttpFailure(415, "VALIDATION_ERROR", "Compressed bodies are not supported");
  }
  const text = bytes.toString();
  const excess = findExcess(text, { unique: true, wellFormed: true });
  if (membersOf(bytes, MAX_DEPTH) === undefined || !isObjectText(text)) {
    throw new HubError(
      "SerializationError",
      `The body must be one JSON object, nested at most ${MAX_DEPTH} levels deep`,
    );
  }
  if (excess !== undefined) throw new HubError("SerializationError", `Invalid body: ${excess}`);
  return bytes;
}

function isObjectText(text: string): boolean {
  try {
    JSON.parse(text);
    return text.trimStart().startsWith("{");
  } catch {
    return false;
  }
}

/** For the call log: what it calls itself, or the first product of its user agent. */
function clientOf({ headers }: IncomingMessage): string {
  const given = headers[CLIENT_HEADER];
  const [agent = ""] = (headers["user-agent"] ?? "").split(/[/ ]/, 1);
  return (typeof given === "string" && given !== "" ? given : agent || "openapi").slice(0, MAX_CLIENT);
}
