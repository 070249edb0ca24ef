// Which addresses of someone else's document may be used at all: https, or http on this machine, and nothing that a browser or a shell
// would read as something other than an address.

import { isIP } from "node:net";
import { HubError } from "../../errors.ts";
import { addressClass } from "./address-class.ts";
import { shownText } from "../text.ts";

/** Browsers and proxies take no more. */
const MAX_LENGTH = 8192;
/** The URL parser would silently drop or encode these. */
// oxlint-disable-next-line no-control-regex -- these are what it looks for
const UNSAFE_CHARACTER = /[\u0000-\u0020\u007f-\u009f\\]/;

/** Whether the text of a host says that it is this machine. A name that resolves to loopback does not count. */
export function isLoopbackHost(hostname: string): boolean {
  const host = bareHost(hostname);
  if (isIP(host) !== 0) return addressClass(host) === "loopback";
  return host === "localhost" || host.endsWith(".localhost");
}

/** Without the brackets of IPv6, and the dot at the end of a complete name. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$|\.$/g, "").toLowerCase();
}

/** The address at which HTTP requests to a server are made: that of a WebSocket has an equal one. */
export function toHttpUrl(url: URL): URL {
  return new URL(url.href.replace(/^ws/, "http"));
}

/** Parses an address of a document. `name` says in the error which one it was: `token_endpoint`. Throws UnsafeAddress. */
export function parseSafeUrl(text: unknown, name: string): URL {
  const url = typeof text === "string" && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || typeof text !== "string") throw unsafe(name, text, "it is not an address");
  const fault = faultOf(text, url);
  if (fault !== undefined) throw unsafe(name, text, fault);
  return url;
}

export function isSafeUrl(text: string): boolean {
  return URL.canParse(text) && faultOf(text, new URL(text)) === undefined;
}

function faultOf(text: string, url: URL): string | undefined {
  if (text.length > MAX_LENGTH || url.href.length > MAX_LENGTH) return `it is longer than ${MAX_LENGTH} characters`;
  if (UNSAFE_CHARACTER.test(text)) return "it contains blanks, control characters or backslashes";
  if (url.username !== "" || url.password !== "") return "it contains credentials";
  if (url.hash !== "") return "it contains a fragment";
  const isSafe = url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(url.hostname));
  return isSafe ? undefined : "it must begin with https:// (http:// is for this machine only)";
}

function unsafe(name: string, text: unknown, fault: string): HubError {
  const shown = shownText(text, { max: 100 });
  const details = shown === undefined ? {} : { detail: shown };
  return new HubError("UnsafeAddress", `The address in ${name} cannot be used: ${fault}`, details);
}
