// The cookie of the browser in which a login was begun. Only that browser can finish it: no one can be made to log in for another person.

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { CALLBACK_PATH } from "./linked-pages.ts";

const COOKIE_PREFIX = "plugboard_login_";
const COOKIE_S = 600;

/** A new cookie: its digest for the login, and the header once the login has an id. */
export function bindBrowser(): { readonly digest: Buffer; readonly cookieFor: (login: string) => string } {
  const secret = randomBytes(32).toString("base64url");
  const attributes = `Path=${CALLBACK_PATH}; Max-Age=${COOKIE_S}; HttpOnly; SameSite=Lax`;
  return { digest: digestOf(secret), cookieFor: (login) => `${COOKIE_PREFIX}${login}=${secret}; ${attributes}` };
}

export function isItsBrowser(
  { id, browser }: { readonly id: string; readonly browser: Buffer | "any" | "none" },
  cookies: string | undefined,
): boolean {
  if (browser === "any" || browser === "none") return browser === "any";
  const name = `${COOKIE_PREFIX}${id}=`;
  const cookie = cookies?.split("; ").find((each) => each.startsWith(name));
  return cookie !== undefined && timingSafeEqual(digestOf(cookie.slice(name.length)), browser);
}

function digestOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
