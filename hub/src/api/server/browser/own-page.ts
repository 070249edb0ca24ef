// Recognises requests of the web interface's pages, and refuses those that another page or program made with the same cookie.

import type { IncomingMessage } from "node:http";
import { HubError } from "../../../errors.ts";
import { BASE_PATH } from "../base-path.ts";

/** The half of a session that only pages of the hub can read. The other one is in the cookie. */
export const PAGE_KEY_HEADER = "x-plugboard-key";
/** Part of the cookie's name. */
export const SESSION_COOKIE = "pb_session";
/** What a page asks for before it is signed in: how to sign in, and the two ways to do so. */
const OPEN: ReadonlySet<string> = new Set([
  `GET ${BASE_PATH}/ui/providers`,
  `POST ${BASE_PATH}/ui/sign-ins`,
  `POST ${BASE_PATH}/ui/session`,
]);

type Request = Pick<IncomingMessage, "method" | "headers">;

/** Whether a request needs no credentials. */
export function isBeforeSignIn({ method }: Request, path: string): boolean {
  return OPEN.has(`${method} ${path}`);
}

/** Has at least one half of a session. A request with a token is not one of a browser. */
export function hasSession({ headers }: Request): boolean {
  if (headers.authorization !== undefined) return false;
  return headers[PAGE_KEY_HEADER] !== undefined || headers.cookie?.includes(SESSION_COOKIE) === true;
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
