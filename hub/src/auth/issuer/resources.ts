// The address of a group's endpoint as the audience of a token (RFC 8707).

const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);
const WITH_GROUP = /^\/(?:groups\/([^/]+)\/mcp|mcp\/([^/]+))$/;
/** The audience of a client that names none: the groups are chosen by the person who consents. */
export const ANY_GROUP = "urn:plugboard:groups";

/** The group whose endpoint it is; undefined if it is none of this hub at `base`. */
export function groupOfResource(resource: string, base: string, defaultGroup: string): string | undefined {
  if (!URL.canParse(resource)) return undefined;
  const url = new URL(resource);
  if (url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== "") return undefined;
  if (!isSameHub(url, new URL(base))) return undefined;
  const path = url.pathname.replace(/\/$/, "");
  if (path === "/mcp") return defaultGroup;
  const [, prefixed, suffixed] = WITH_GROUP.exec(path) ?? [];
  return decode(prefixed ?? suffixed);
}

/** All names of this machine lead to the same hub. */
function isSameHub(url: URL, base: URL): boolean {
  if (url.origin === base.origin) return true;
  return (
    LOOPBACK.has(url.hostname) &&
    LOOPBACK.has(base.hostname) &&
    url.port === base.port &&
    url.protocol === base.protocol
  );
}

function decode(segment: string | undefined): string | undefined {
  if (segment === undefined) return undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
