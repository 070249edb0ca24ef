// The registry that the hub serves to other hubs and clients, read-only, under the paths of the official registry:
// `/registry/v0.1/servers` and `/registry/v0.1/servers/{name}/versions/{version}`.

import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { decodeUri } from "@plugboard/shared/lenient";
import type { Authenticator } from "../../auth/authenticator.ts";
import type { GrantLimits } from "../../auth/grant-limits.ts";
import { may } from "../../auth/policy.ts";
import { HubError } from "../../errors.ts";
import { addressOf } from "../../http/client-address.ts";
import type { Edge } from "../../http/listener.ts";
import { NodeResponse } from "../../http/node-response.ts";
import { wrongMethod } from "../../http/problem.ts";
import { identify } from "../../http/request-id.ts";
import { sendProblem } from "../../http/send-problem.ts";
import type { ServedMirror } from "../../registry/mirror/served.ts";

const PATH = /^\/registry\/v0\.1\/servers(?:\/([^/?]+)\/versions\/([^/?]+))?\/?(?:\?(.*))?$/;

export interface RegistryMirrorOptions {
  readonly mirror: Pick<ServedMirror, "list" | "get">;
  readonly authenticator: Authenticator;
  readonly limits: GrantLimits;
}

interface Asked {
  /** Neither is decoded yet. */
  readonly name: string | undefined;
  readonly version: string | undefined;
  readonly query: string | undefined;
}

export function createRegistryMirror(options: RegistryMirrorOptions): Edge {
  return (request, response) => {
    const match = PATH.exec(request.url ?? "");
    if (match === null) return false;
    const [, name, version, query] = match;
    const requestId = identify(request, response);
    answer(request, { name, version, query }, options)
      .then((text) => {
        const body = Buffer.from(text);
        const etag = `"${createHash("sha256").update(body).digest("base64url")}"`;
        const headers = { etag, "cache-control": "private, no-cache", "x-content-type-options": "nosniff" };
        const to = new NodeResponse(response);
        if (request.headers["if-none-match"] === etag) to.send(304, headers);
        else to.send(200, { ...headers, "content-type": "application/json" }, body);
      })
      .catch((error: unknown) => sendProblem(response, error, requestId));
    return true;
  };
}

async function answer(
  request: IncomingMessage,
  { name, version, query }: Asked,
  { mirror, authenticator, limits }: RegistryMirrorOptions,
): Promise<string> {
  const source = addressOf(request);
  const caller = await authenticator.authenticateMcp(request, source);
  limits.take(caller, source);
  if (!may(caller, { to: "find" })) {
    throw new HubError("Forbidden", "The token is limited to groups, and the registry is none of them", {
      hint: "Make one without --group: plugboard token add NAME",
    });
  }
  if (request.method !== "GET" && request.method !== "HEAD") throw wrongMethod(["GET", "HEAD"]);
  if (name !== undefined && version !== undefined) return mirror.get(decodeUri(name), decodeUri(version));
  const given = new URLSearchParams(query);
  const text = (parameter: string) => given.get(parameter) || undefined;
  return mirror.list({
    search: text("search"),
    version: text("version"),
    cursor: text("cursor"),
    limit: numberIn(text("limit")),
    updatedSince: timeIn(text("updated_since")),
  });
}

/** NaN, which is refused, if it is no number. */
function numberIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return /^\d{1,6}$/.test(text) ? Number(text) : NaN;
}

function timeIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : NaN;
  if (!Number.isNaN(time)) return time;
  throw new HubError("InvalidArgument", "updated_since is a time, such as 2026-01-31T12:00:00Z", {
    field: "updated_since",
  });
}
