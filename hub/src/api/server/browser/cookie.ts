// The cookies of a browser: one half of its session, and the mark of a sign-in that it has begun. Over http their names have the port,
// because browsers share the cookies of a host among all its ports.

import type { IncomingHttpHeaders } from "node:http";
import { SESSION_COOKIE } from "./own-page.ts";

const PREFIX_HEADER = "x-forwarded-prefix";
const PREFIX = /^(?:\/[\w.~-]{1,64}){1,8}$/;
/** Another program on the same host may have set more cookies of the same name. */
const MAX_COOKIES = 4;

type Headers = Pick<IncomingHttpHeaders, "host" | "cookie">;

export interface CookieKind {
  readonly name: string;
  /** Where it is sent over http; over https it is bound to the host, and that needs the root. */
  readonly path: string;
  readonly sameSite: "Strict" | "Lax";
}

export const SESSION: CookieKind = { name: SESSION_COOKIE, path: "/api", sameSite: "Strict" };
/** Also sent when the identity provider links back. */
export const SIGN_IN: CookieKind = { name: "pb_sign_in", path: "/", sameSite: "Lax" };

/** The values of our cookie in a request. */
export function cookiesOf({ host, cookie = "" }: Headers, { name }: CookieKind = SESSION): string[] {
  const starts = [`${plainName(name, host)}=`, `${hostName(name)}=`];
  const pairs = cookie.split(";").map((pair) => pair.trim());
  return pairs
    .flatMap((pair) => starts.filter((start) => pair.startsWith(start)).map((start) => pair.slice(start.length)))
    .slice(0, MAX_COOKIES);
}

/** What a `Set-Cookie` is made of. */
export interface NewCookie {
  readonly kind: CookieKind;
  /** Undefined: the cookie is removed. */
  readonly value: string | undefined;
  readonly ageMs?: number;
}

/** `header` gives those of the request: a page sends its Origin with it, which the listener has checked. */
export function setCookie(header: (name: string) => string | undefined, { kind, value, ageMs = 0 }: NewCookie): string {
  const given = header(PREFIX_HEADER) ?? "";
  const prefix = PREFIX.test(given) ? given : "";
  const isSecure = header("origin")?.toLowerCase().startsWith("https://") === true;
  const age = `Max-Age=${value === undefined ? 0 : Math.floor(ageMs / 1000)}`;
  // Two hubs behind one proxy have one host, so that only the path tells their cookies apart.
  if (isSecure && prefix === "") {
    return `${hostName(kind.name)}=${value ?? ""}; Secure; HttpOnly; SameSite=Lax; Path=/; ${age}`;
  }
  const attributes = `HttpOnly; SameSite=${kind.sameSite}; Path=${prefix}${kind.path}; ${age}`;
  return `${plainName(kind.name, header("host"))}=${value ?? ""}; ${isSecure ? "Secure; " : ""}${attributes}`;
}

function plainName(name: string, host = ""): string {
  return `${name}_${/:(\d+)$/.exec(host)?.[1] ?? "80"}`;
}

function hostName(name: string): string {
  return `__Host-${name}`;
}
