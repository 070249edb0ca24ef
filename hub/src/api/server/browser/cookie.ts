// The cookie with one half of a browser's session. Its name has the port, because browsers share the cookies of a host among
// all its ports.

import type { IncomingHttpHeaders } from "node:http";
import { LIFE_MS } from "../../../auth/ui-sessions.ts";
import { COOKIE } from "./own-page.ts";

const PREFIX_HEADER = "x-forwarded-prefix";
const PREFIX = /^(?:\/[\w.~-]{1,64}){1,8}$/;
/** Another program on the same host may have set more cookies of the same name. */
const MAX_COOKIES = 4;

type Headers = Pick<IncomingHttpHeaders, "host" | "cookie">;

/** The values of our cookie in a request. */
export function cookiesOf({ host, cookie = "" }: Headers): string[] {
  const start = `${cookieName(host)}=`;
  const pairs = cookie.split(";").map((pair) => pair.trim());
  return pairs
    .filter((pair) => pair.startsWith(start))
    .map((pair) => pair.slice(start.length))
    .slice(0, MAX_COOKIES);
}

/** Without a value, the header removes the cookie. */
export function setCookie(header: (name: string) => string | undefined, value: string | undefined): string {
  const prefix = header(PREFIX_HEADER) ?? "";
  const path = `${PREFIX.test(prefix) ? prefix : ""}/api`;
  const age = value === undefined ? 0 : LIFE_MS / 1000;
  return `${cookieName(header("host"))}=${value ?? ""}; HttpOnly; SameSite=Strict; Path=${path}; Max-Age=${age}`;
}

function cookieName(host = ""): string {
  return `${COOKIE}${/:(\d+)$/.exec(host)?.[1] ?? "80"}`;
}
