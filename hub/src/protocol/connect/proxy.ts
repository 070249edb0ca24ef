// Chooses the proxy for a server: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY in either spelling, as curl and most programs
// read them. Pure. If both spellings are set, lower case wins.

import { BlockList, isIP } from "node:net";

type Variables = Readonly<Record<string, string | undefined>>;

/** The `proxy` setting of an entry: a URL that replaces the environment's, or false for none. */
export type ProxyChoice = string | boolean | undefined;

/** The proxy for a URL; undefined: none. An Error if the setting is not a proxy URL. */
export function proxyFor(url: URL, choice: ProxyChoice, variables: Variables): URL | Error | undefined {
  if (choice === false) return undefined;
  if (typeof choice === "string") return toProxy(choice);
  // A server on this machine is never accessed through the environment's proxy.
  if (isLoopback(url.hostname) || isExempt(url, read(variables, "no_proxy") ?? "")) return undefined;
  const isSecure = url.protocol === "https:" || url.protocol === "wss:";
  const own = read(variables, isSecure ? "https_proxy" : "http_proxy");
  const text = own ?? read(variables, "all_proxy");
  return text === undefined ? undefined : toProxy(text);
}

/** The header Proxy-Authorization, if the proxy's URL has credentials. */
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
  return new Error("A proxy must be an http:// or https:// URL");
}

function isLoopback(hostname: string): boolean {
  const host = bare(hostname);
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** `*`, `example.com` (with subdomains), `.example.com`, `*.example.com`, `host:port`, addresses, `10.0.0.0/8`. */
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
