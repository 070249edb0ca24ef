// Paths and queries of the UI's own addresses, without a browser: router.svelte.ts connects them with the address bar.

export type Params = Readonly<Record<string, string>>;
export type Query = Readonly<Record<string, string>>;

/**
 * The parameters of a path that fits the pattern, decoded.
 *
 * @example matchPath("/servers/:name", "/servers/a%2Fb") // { name: "a/b" }
 */
export function matchPath(pattern: string, path: string): Params | undefined {
  const wanted = segmentsOf(pattern);
  const given = segmentsOf(path);
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    const value = given[index] ?? "";
    if (segment.startsWith(":")) params[segment.slice(1)] = decode(value);
    else if (segment !== value) return undefined;
  }
  return params;
}

/**
 * A path with its parameters filled in, and a query; empty values are left out.
 *
 * @example pathTo`/servers/${"a/b"}` // "/servers/a%2Fb"
 */
export function pathTo(parts: TemplateStringsArray, ...values: readonly string[]): string {
  return String.raw({ raw: parts }, ...values.map(encodeURIComponent));
}

export function withQuery(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const text = formatQuery(query);
  return text === "" ? path : `${path}?${text}`;
}

export function parseQuery(search: string): Query {
  return Object.fromEntries(new URLSearchParams(search));
}

export function formatQuery(query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== "",
  );
  return new URLSearchParams(given).toString();
}

function segmentsOf(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "");
}

/** An address may be typed by hand: what cannot be decoded stays as it is. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
