// Recognises requests of the web interface's pages, and refuses those that another page or program made with the same cookie.

import type { IncomingMessage } from "node:http";
import { HubError } from "../../../errors.ts";
import { BASE_PATH } from "../base-path.ts";

/** The half of a session that only pages of the hub can read. The other one is in the cookie. */
export const PAGE_KEY_HEADER = "x-plugboard-key";
/** Start of the cookie's name. */
export const COOKIE = "pb_session_";
const SIGN_IN_PATH = `${BASE_PATH}/ui/session`;

type Request = Pick<IncomingMessage, "method" | "headers">;

/** The one request that needs no credentials: it exchanges a key for them. */
export function isSignIn({ method }: Request, path: string): boolean {
  return method === "POST" && path === SIGN_IN_PATH;
}

/** Has at least one half of a session. A request with a token is not one of a browser. */
export function hasSession({ headers }: Request): boolean {
  if (headers.authorization !== undefined) return false;
  return headers[PAGE_KEY_HEADER] !== undefined || headers.cookie?.includes(COOKIE) === true;
}

/**
 * The listener refuses foreign values of Host, Origin and Sec-Fetch-Site. Here they must also be present where browsers send them:
 * cookies go along with requests of other programs on the same host.
 */
export function requireOwnPage({ method, headers }: Request): void {
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin") throw foreign("A browser session is for the hub's own pages");
  if (method === "GET" || method === "HEAD" || headers.origin !== undefined) return;
  throw foreign("A change by a browser needs the header Origin");
}

function foreign(message: string): HubError {
  return new HubError("Forbidden", message);
}
