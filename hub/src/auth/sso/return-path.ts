// Where the browser goes after a sign-in. The wish comes from an address that anyone can make, so that only paths of the hub count.

const MAX_LENGTH = 2048;
/** Printable ASCII without the backslash, which browsers read as a slash. */
const PATH = /^\/[!-[\]-~]*$/;
/** An encoded slash, backslash or control character: a proxy or page on the way might decode it. */
const ENCODED = /%(?:2f|5c|[01][0-9a-f]|7f|25)/i;
const HERE = "http://hub.invalid";

/** The path, with its query. Undefined: it could lead elsewhere. */
export function returnPath(wanted: string | undefined): string | undefined {
  if (wanted === undefined || wanted.length > MAX_LENGTH) return undefined;
  if (!PATH.test(wanted) || wanted.startsWith("//") || wanted.includes("#")) return undefined;
  const [path = ""] = wanted.split("?", 1);
  if (path.includes("//") || path.includes("@") || path.includes(":") || ENCODED.test(path)) return undefined;
  const url = new URL(wanted, HERE);
  // Changed by the parser: it had dot segments, or was no path after all.
  if (url.origin !== HERE || `${url.pathname}${url.search}` !== wanted) return undefined;
  return wanted;
}
