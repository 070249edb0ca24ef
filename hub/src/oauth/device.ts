// The device flow (RFC 8628): a person enters a code in any browser, and the hub polls until they have.

import { setTimeout as sleep } from "node:timers/promises";
import { HubError } from "../errors.ts";
import type { JsonObject } from "../lib/json/json.ts";
import { parseSafeUrl } from "./fetch/safe-url.ts";
import { shownText } from "./text.ts";
import { authenticated, requestToken, sendAndRead, TokenEndpointError, unusable } from "./token-endpoint.ts";
import { secondsIn, tokenIn, toTokenSet } from "./token-set.ts";
import type { Discovery, TokenEndpoint, TokenSet } from "./types.ts";

export interface DeviceCode {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly verificationUri: string;
  readonly verificationUriComplete?: string;
  /** Seconds. */
  readonly expiresIn: number;
  /** Seconds between two polls. */
  readonly interval: number;
}

const DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code";
const DEFAULT_INTERVAL_S = 5;
const SLOW_DOWN_S = 5;
const DEFAULT_EXPIRES_S = 600;

/** Whether the authorization server offers it, as far as its metadata says. */
export function offersDeviceFlow({ metadata }: Pick<Discovery, "metadata">): boolean {
  const { device_authorization_endpoint: endpoint, grant_types_supported: grants } = metadata;
  return endpoint !== undefined && (grants === undefined || grants.includes(DEVICE_CODE));
}

export async function startDevice(
  endpoint: TokenEndpoint,
  { scopes }: { readonly scopes: readonly string[] },
): Promise<DeviceCode> {
  const { discovery, client, resource } = endpoint;
  if (!offersDeviceFlow(discovery)) {
    throw new HubError("LoginFailed", `${discovery.issuer} does not offer logins by device code`);
  }
  const { deviceAuthorizationRequest } = await import("oauth4webapi");
  const { as, auth, options } = await authenticated(endpoint);
  const parameters = new URLSearchParams();
  if (scopes.length > 0) parameters.set("scope", scopes.join(" "));
  if (resource !== undefined) parameters.set("resource", resource);
  const send = () => deviceAuthorizationRequest(as, { client_id: client.id }, auth, parameters, options);
  return toDeviceCode(await sendAndRead(endpoint, send, []), discovery.issuer);
}

function toDeviceCode(body: JsonObject, issuer: string): DeviceCode {
  const deviceCode = tokenIn(body, "device_code");
  const userCode = shownText(body["user_code"], { max: 64 });
  if (deviceCode === undefined || userCode === undefined) throw unusable(issuer, "The answer has no codes");
  const complete = body["verification_uri_complete"];
  return {
    deviceCode,
    userCode,
    // Google has another name for it.
    verificationUri: parseSafeUrl(body["verification_uri"] ?? body["verification_url"], "verification_uri").href,
    ...(complete === undefined
      ? {}
      : { verificationUriComplete: parseSafeUrl(complete, "verification_uri_complete").href }),
    expiresIn: secondsIn(body["expires_in"]) ?? DEFAULT_EXPIRES_S,
    interval: secondsIn(body["interval"]) ?? DEFAULT_INTERVAL_S,
  };
}

/** Polls until the person has decided, the code has expired, or `endpoint.signal` aborts. `wait` is for tests. */
export async function pollDevice(
  endpoint: TokenEndpoint,
  { deviceCode, expiresIn, interval }: DeviceCode,
  wait: (ms: number) => Promise<unknown> = (ms) => sleep(ms, undefined, { signal: endpoint.signal }),
): Promise<TokenSet> {
  let seconds = interval;
  for (let waited = 0; waited + seconds <= expiresIn; waited += seconds) {
    await wait(seconds * 1000).catch(cancelled);
    try {
      return toTokenSet(endpoint, await requestToken(endpoint, DEVICE_CODE, { device_code: deviceCode }));
    } catch (thrown) {
      const next = nextInterval(thrown, seconds);
      if (next === undefined) throw thrown;
      seconds = next;
    }
  }
  throw new HubError("LoginFailed", "The code of the login has expired", { hint: "Start the login again" });
}

function cancelled(): never {
  throw new HubError("Cancelled", "The login was cancelled");
}

/** Seconds until the next poll. Undefined: it is decided. */
function nextInterval(thrown: unknown, seconds: number): number | undefined {
  if (!(thrown instanceof TokenEndpointError)) return undefined;
  const { failure } = thrown;
  if (failure.type === "transient") return Math.max(seconds * 2, (failure.retryAfterMs ?? 0) / 1000);
  if (failure.code === "authorization_pending") return seconds;
  return failure.code === "slow_down" ? seconds + SLOW_DOWN_S : undefined;
}
