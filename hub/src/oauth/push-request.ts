// Pushed authorization requests (RFC 9126): the parameters go to the authorization server first, and the browser takes a reference.

import { HubError } from "../errors.ts";
import { authenticated, sendAndRead, unusable } from "./token-endpoint.ts";
import type { TokenEndpoint } from "./types.ts";

/** The parameters that are left for the browser. */
export async function pushRequest(
  endpoint: Omit<TokenEndpoint, "resource">,
  parameters: URLSearchParams,
): Promise<URLSearchParams> {
  const { discovery, client } = endpoint;
  if (discovery.metadata.pushed_authorization_request_endpoint === undefined) {
    throw new HubError("ProtocolError", `${discovery.issuer} wants requests to be pushed, but has no endpoint for it`);
  }
  const { pushedAuthorizationRequest } = await import("oauth4webapi");
  const { as, auth, options } = await authenticated(endpoint);
  const send = () => pushedAuthorizationRequest(as, { client_id: client.id }, auth, parameters, options);
  const sent = ["state", "nonce", "code_challenge"].map((name) => parameters.get(name) ?? undefined);
  const { request_uri: uri } = await sendAndRead(endpoint, send, sent);
  if (typeof uri !== "string" || uri === "") throw unusable(discovery.issuer, "The answer has no request_uri");
  return new URLSearchParams({ client_id: client.id, request_uri: uri });
}
