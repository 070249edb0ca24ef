// Addresses that are an origin: scheme, host and port, and nothing else.

/** The parser's form of an origin, without a slash at the end: only then do texts that mean the same compare as equal. */
export function originOf(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined;
  return url.href === `${url.origin}/` ? url.origin : undefined;
}
