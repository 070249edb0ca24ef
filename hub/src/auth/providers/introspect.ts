// Asks an issuer about a token that says nothing by itself (RFC 7662). Without a clear yes, the token is not valid.

import { HubError } from "../../errors.ts";
import type { JsonObject } from "../../lib/json/json.ts";
import { retryAfter } from "../../lib/retry-after.ts";
import { clientAuth } from "../../oauth/client/client-auth.ts";
import { parseObject } from "../../oauth/parse-object.ts";
import type { IssuerEndpoints } from "./issuer-endpoints.ts";
import type { IssuerSettings } from "./issuer-settings.ts";
import { InvalidToken, issuerUnavailable } from "./refusals.ts";

const RETRY_MS = 5000;

/** The claims; undefined: the token is not active, or of another issuer. Rejects with IssuerUnavailable. */
export async function introspect(
  token: string,
  { issuer, introspection }: Pick<IssuerSettings, "issuer" | "introspection">,
  { endpoints, now }: { readonly endpoints: IssuerEndpoints; readonly now: () => number },
): Promise<JsonObject | undefined> {
  if (introspection === undefined) return undefined;
  const claims = await ask(token, issuer, introspection, endpoints).catch((thrown: unknown) => {
    if (thrown instanceof HubError) throw issuerUnavailable(issuer, thrown.retryAfterMs ?? RETRY_MS, thrown);
    throw thrown;
  });
  if (claims["active"] !== true) return undefined;
  const { iss, exp, nbf } = claims;
  if (iss !== undefined && iss !== issuer) return undefined;
  if (exp !== undefined && !(typeof exp === "number" && exp * 1000 > now())) {
    throw new InvalidToken("The token has expired", { isGenuine: true });
  }
  if (nbf !== undefined && !(typeof nbf === "number" && nbf * 1000 <= now() + RETRY_MS)) {
    throw new InvalidToken("The token is not valid yet", { isGenuine: true });
  }
  return claims;
}

async function ask(
  token: string,
  issuer: string,
  { clientId, clientSecret }: NonNullable<IssuerSettings["introspection"]>,
  endpoints: IssuerEndpoints,
): Promise<JsonObject> {
  const { address, fetch } = await endpoints.introspection();
  const headers = new Headers({
    accept: "application/json",
    "content-type": "application/x-www-form-urlencoded",
  });
  const body = new URLSearchParams({ token, token_type_hint: "access_token" });
  const secret = await clientSecret();
  const client = { id: clientId, secret, method: "client_secret_basic", how: "configured", issuer } as const;
  await clientAuth(client)({ issuer }, { client_id: clientId }, body, headers);
  const response = await fetch(address, { method: "POST", headers: Object.fromEntries(headers), body });
  const waitMs = retryAfter(response.headers.get("retry-after"));
  const details = waitMs === undefined ? {} : { retryAfterMs: waitMs };
  if (response.status !== 200) {
    // 401 and 403: it does not accept the hub's own client. That says nothing about the token.
    throw new HubError("ConnectionFailed", `Introspection was answered with HTTP status ${response.status}`, details);
  }
  const claims = parseObject(await response.text());
  if (claims === undefined) throw new HubError("ConnectionFailed", "Introspection was not answered with JSON");
  return claims;
}
