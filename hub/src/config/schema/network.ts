// Proxy and TLS settings of a remote server. For a local server, `proxy` says whether it inherits the hub's proxy variables.

import * as z from "zod/mini";
import * as limits from "./limits.ts";
import * as rule from "./text.ts";

const file = (what: string) => rule.text(what, { max: limits.PATH_MAX, oneLine: true });

/** Strict: a misspelled key would silently leave a certificate unchecked. */
const tlsEntry = z.strictObject({
  /** Paths of PEM files. */
  ca: z.optional(file("tls.ca")),
  cert: z.optional(file("tls.cert")),
  key: z.optional(file("tls.key")),
  servername: z.optional(rule.text("tls.servername", { max: limits.URL_MAX, oneLine: true })),
});

export const networkEntry = {
  proxy: z.nullish(
    z.union([z.boolean(), rule.text("proxy", { max: limits.URL_MAX, oneLine: true })], {
      error: "proxy must be a url, true or false",
    }),
  ),
  tls: z.nullish(tlsEntry),
  /** Short for `tls.ca`. */
  ca: z.nullish(file("ca")),
};

export interface NetworkConfig {
  readonly proxy?: string | boolean;
  readonly tls?: TlsFiles;
}

export interface TlsFiles {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
}

/** The network settings of an entry, or undefined if it has none. */
export function toNetwork(entry: {
  readonly proxy?: string | boolean | null | undefined;
  readonly tls?: z.infer<typeof tlsEntry> | null | undefined;
  readonly ca?: string | null | undefined;
}): NetworkConfig | undefined {
  const proxy = entry.proxy ?? undefined;
  const { ca = entry.ca ?? undefined, cert, key, servername } = entry.tls ?? {};
  const given = Object.entries({ ca, cert, key, servername }).filter(([, value]) => value !== undefined);
  if (proxy === undefined && given.length === 0) return undefined;
  return {
    ...(proxy === undefined ? {} : { proxy }),
    ...(given.length === 0 ? {} : { tls: Object.fromEntries(given) }),
  };
}
