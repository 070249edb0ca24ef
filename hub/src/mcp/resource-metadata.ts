// Serves the metadata of what tokens can be issued for (RFC 9728), from which clients learn where to log in. It is public, and says
// the same whether there is a group of the name or not.

import type { Authenticator } from "../auth/authenticator.ts";
import { METADATA_PATH, resourceMetadata } from "../auth/resource.ts";
import type { Edge } from "../http/listener.ts";
import { NodeResponse } from "../http/node-response.ts";
import { HttpFailure } from "../http/problem.ts";
import { identify } from "../http/request-id.ts";
import { sendProblem } from "../http/send-problem.ts";

const HEADERS = {
  "content-type": "application/json",
  "cache-control": "public, max-age=3600",
  // MCP clients in a browser read it too.
  "access-control-allow-origin": "*",
} as const;
const PREFLIGHT = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET",
  "access-control-allow-headers": "*",
  "access-control-max-age": "3600",
} as const;

export function createResourceMetadata(authenticator: Authenticator): Edge {
  return (request, response) => {
    const path = request.url?.split("?", 1)[0] ?? "";
    if (!path.startsWith(`${METADATA_PATH}/`)) return false;
    const { addresses, authorizationServers: issuers } = authenticator;
    const resource = addresses.at(path.slice(METADATA_PATH.length));
    // Without an authorization server, a client that found metadata would begin a login that cannot end.
    if (resource === undefined || issuers.length === 0) return false;
    const to = new NodeResponse(response);
    if (request.method === "OPTIONS") to.send(204, PREFLIGHT);
    else if (request.method === "GET" || request.method === "HEAD") {
      to.send(200, HEADERS, Buffer.from(JSON.stringify(resourceMetadata(resource, { base: addresses.base, issuers }))));
    } else {
      const failure = new HttpFailure(405, "VALIDATION_ERROR", "This address takes only GET", { allow: "GET" });
      sendProblem(response, failure, identify(request, response));
    }
    return true;
  };
}
