// What is known about a server before a login: whether it asks for one at all, and its address as a resource.

import type { ServerConfig } from "../../config/schema/types.ts";
import type { Challenge } from "../../oauth/types.ts";

/** A 401 may also be about a key in a header. The server asks for a login if it has metadata for one. */
export async function asksForLogin(
  { auth, env, transport }: ServerConfig,
  challenge: Challenge | undefined,
  discover: () => Promise<{ readonly isFallback: boolean }>,
): Promise<boolean> {
  if (challenge?.resourceMetadata !== undefined || auth !== undefined) return true;
  const hasCredentials =
    Object.keys(env).length > 0 || (transport.type !== "stdio" && Object.keys(transport.headers).length > 0);
  if (hasCredentials) return false;
  return discover().then(
    ({ isFallback }) => !isFallback,
    () => false, // the refusal says more than a failed search
  );
}

/** WebSocket addresses are resources of the same host. */
export function httpUrl(url: URL): URL {
  if (url.protocol !== "ws:" && url.protocol !== "wss:") return url;
  return new URL(url.href.replace(/^ws/, "http"));
}
