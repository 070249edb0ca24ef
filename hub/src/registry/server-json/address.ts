// Which addresses of a registry's servers may be used: public ones over TLS. A registry is written by strangers, and the hub is inside
// the user's network (T32).

import { isIP } from "node:net";
import { addressClass } from "../../oauth/fetch/address-class.ts";
import { bareHost, isLoopbackHost } from "../../oauth/fetch/safe-url.ts";
import { unusable } from "./fields.ts";

/** Names that only a private network resolves. */
const PRIVATE_NAME = /(?:^|\.)(?:local|internal|intranet|lan|home|corp|private|home\.arpa)$/;
const MAX_LENGTH = 4096;
// oxlint-disable-next-line no-control-regex -- these are what it looks for
const UNSAFE_CHARACTER = /[\u0000-\u0020\u007f-\u009f\\]/;

/** Throws unless an address is a public one over TLS. A name that resolves to a private address is found when it is added. */
export function requirePublicAddress(text: string): URL {
  if (text.length > MAX_LENGTH) throw unusable(`Its address is longer than ${MAX_LENGTH} characters`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || UNSAFE_CHARACTER.test(text)) throw unusable("Its address is not a valid URL");
  if (url.username !== "" || url.password !== "") throw unusable("Its address contains credentials");
  const host = bareHost(url.hostname);
  const kind = isLoopbackHost(host) ? "loopback" : isIP(host) === 0 ? "public" : addressClass(host);
  if (kind === "loopback") throw unusable(`Its address ${url.host} is this machine`);
  if (kind !== "public") throw unusable(`Its address ${url.host} is not a public one`);
  if (isIP(host) === 0 && (PRIVATE_NAME.test(host) || !host.includes("."))) {
    throw unusable(`Its address ${url.host} is in a private network`);
  }
  if (url.protocol !== "https:") throw unusable(`Its address ${url.origin} is not https`);
  return url;
}
