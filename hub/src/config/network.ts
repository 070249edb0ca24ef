// What a user may write about the way to a remote server: the proxy before it, and whom to trust. Of a program: whether it gets
// the hub's proxy settings.

import * as z from "zod/mini";
import * as limits from "./limits.ts";
import * as rule from "./text.ts";

const file = (what: string) => rule.text(what, { max: limits.PATH_MAX, oneLine: true });

/** Strict: what is misspelt here would be a certificate that is not checked as its owner thinks. */
const tlsEntry = z.strictObject({
  /** Files. */
  ca: z.optional(file("tls.ca")),
  cert: z.optional(file("tls.cert")),
  key: z.optional(file("tls.key")),
  servername: z.optional(rule.text("tls.servername", { max: limits.URL_MAX, oneLine: true })),
});

export const networkEntry = {
  proxy: z.nullish(
    z.union([z.boolean(), rule.text("proxy", { max: limits.URL_MAX, oneLine: true })], {
      error: "proxy is an address, true or false",
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

/** The network part of an entry; undefined where it says nothing about that. */
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
