// Which proxy a server is reached through: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY in either spelling, as curl and most
// programs read them. Pure. Where both spellings are set, the small letters win.

import { BlockList, isIP } from "node:net";

type Variables = Readonly<Record<string, string | undefined>>;

/** What an entry says: an address in place of the environment's, or none at all. */
export type ProxyChoice = string | boolean | undefined;

/** The proxy for an address; undefined: none. What is no address of a proxy is an Error that says so. */
export function proxyFor(url: URL, choice: ProxyChoice, variables: Variables): URL | Error | undefined {
  if (choice === false) return undefined;
  if (typeof choice === "string") return toProxy(choice);
  // A server on this machine is no proxy's business, whatever the environment says.
  if (isLoopback(url.hostname) || isExempt(url, read(variables, "no_proxy") ?? "")) return undefined;
  const isSecure = url.protocol === "https:" || url.protocol === "wss:";
  const own = read(variables, isSecure ? "https_proxy" : "http_proxy");
  const text = own ?? read(variables, "all_proxy");
  return text === undefined ? undefined : toProxy(text);
}

/** Where a proxy wants to know who asks. */
export function proxyAuthorization({ username, password }: URL): string | undefined {
  if (username === "") return undefined;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(credentials).toString("base64")}`;
}

function read(variables: Variables, name: string): string | undefined {
  const value = variables[name] ?? variables[name.toUpperCase()];
  return value === undefined || value.trim() === "" ? undefined : value.trim();
}

function toProxy(text: string): URL | Error {
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  return new Error("A proxy is an http:// or https:// address");
}

function isLoopback(hostname: string): boolean {
  const host = bare(hostname);
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** `*`, `example.com` (and what is below it), `.example.com`, `*.example.com`, `host:port`, addresses, `10.0.0.0/8`. */
function isExempt({ hostname, port, protocol }: URL, list: string): boolean {
  const host = bare(hostname).toLowerCase();
  const ownPort = port === "" ? (protocol === "https:" || protocol === "wss:" ? "443" : "80") : port;
  return list
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .some((entry) => matches(entry.toLowerCase(), host, ownPort));
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === "*") return true;
  if (entry.includes("/")) return isWithin(host, entry);
  const [, name = entry, wanted] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
  if (wanted !== undefined && wanted !== port) return false;
  const suffix = bare(name).replace(/^\*?\./, "");
  return suffix !== "" && (host === suffix || (isIP(host) === 0 && host.endsWith(`.${suffix}`)));
}

function isWithin(host: string, range: string): boolean {
  const [, address = "", bits = ""] = /^([^/]+)\/(\d{1,3})$/.exec(range) ?? [];
  const family = isIP(address);
  if (family === 0 || isIP(host) !== family || Number(bits) > (family === 4 ? 32 : 128)) return false;
  const type = family === 4 ? "ipv4" : "ipv6";
  const list = new BlockList();
  list.addSubnet(address, Number(bits), type);
  return list.check(host, type);
}

function bare(host: string): string {
  return host.replace(/^\[|\]$/g, "");
}
